import { Button, FileButton } from '@mantine/core'
import { IconUpload } from '@tabler/icons-react'
import { type Holiday, useHolidayImport } from '../../data/team/services.ts'
import type { Workspace } from '../../data/workspace.ts'
import { useWorkspaceChange } from '../../data/workspace-change.ts'
import { hasRole } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import { showError, showToast } from '../../ui/overlay/toasts.tsx'
import { Section } from '../../ui/page/Section.tsx'
import { AddHoliday, HolidayList, withHoliday } from './HolidayFields.tsx'

/** Days on which the team is closed, entered or imported from a calendar. */
export function HolidaysSection({ workspace }: { workspace: Workspace }) {
  const texts = t.settings.holidays
  const mayChange = hasRole(workspace.id, 'admin')
  const change = useWorkspaceChange(workspace, t.settings.saved)
  const save = (holidays: Holiday[]) => change.mutate({ holidays }, { onError: showError })
  return (
    <Section
      title={texts.title}
      help={workspace.hours === null ? texts.needsHours : texts.help}
      {...(mayChange && { action: <ImportButton workspace={workspace} /> })}
    >
      <HolidayList
        holidays={workspace.holidays}
        mayChange={mayChange}
        isSaving={change.isPending}
        remove={(holiday) => save(workspace.holidays.filter((one) => one !== holiday))}
      />
      {mayChange && (
        <AddHoliday
          isSaving={change.isPending}
          add={(holiday) => save(withHoliday(workspace.holidays, { ...holiday, calendar: null }))}
        />
      )}
    </Section>
  )
}

/** The name of the file is the name of the calendar. */
function ImportButton({ workspace }: { workspace: Workspace }) {
  const texts = t.settings.holidays
  const run = useHolidayImport(workspace.id)
  const importFile = async (file: File) => {
    const calendar =
      file.name
        .replace(/\.[^.]{1,10}$/, '')
        .slice(0, 100)
        .trim() || texts.calendar
    run.mutate(
      { calendar, text: await file.text() },
      { onSuccess: ({ imported }) => showToast(texts.imported({ n: imported })), onError: showError },
    )
  }
  return (
    <FileButton accept=".ics,text/calendar" onChange={(file) => file !== null && void importFile(file)}>
      {(props) => (
        <Button {...props} variant="default" loading={run.isPending} leftSection={<IconUpload size={16} />}>
          {texts.import}
        </Button>
      )}
    </FileButton>
  )
}
