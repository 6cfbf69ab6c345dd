import { ActionIcon, Button, FileButton, Group, TextInput } from '@mantine/core'
import { IconPlus, IconUpload, IconX } from '@tabler/icons-react'
import { type FormEvent, useState } from 'react'
import { type Holiday, useHolidayImport } from '../../data/team/services.ts'
import type { Workspace } from '../../data/workspace.ts'
import { useWorkspaceChange } from '../../data/workspace-change.ts'
import { hasRole } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import { formatUtcDay } from '../../ui/format/time.ts'
import { showError, showToast } from '../../ui/overlay/toasts.tsx'
import { Section } from '../../ui/page/Section.tsx'
import styles from './HoursSection.module.css'

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
      {workspace.holidays.length > 0 && (
        <ul className={styles.holidays}>
          {workspace.holidays.map((holiday) => (
            <li key={`${holiday.calendar} ${holiday.from} ${holiday.to} ${holiday.name}`}>
              <span className={styles.holidayDay}>{daysOf(holiday)}</span>
              <span className={styles.holidayName}>{holiday.name}</span>
              {holiday.calendar !== null && <span className={styles.closed}>{holiday.calendar}</span>}
              {mayChange && (
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  aria-label={texts.remove({ name: holiday.name })}
                  title={texts.remove({ name: holiday.name })}
                  disabled={change.isPending}
                  onClick={() => save(workspace.holidays.filter((one) => one !== holiday))}
                >
                  <IconX size={16} />
                </ActionIcon>
              )}
            </li>
          ))}
        </ul>
      )}
      {workspace.holidays.length === 0 && <p className={styles.closed}>{texts.empty}</p>}
      {mayChange && (
        <AddForm
          isSaving={change.isPending}
          add={(holiday) => save([...workspace.holidays, holiday].sort((a, b) => (a.from < b.from ? -1 : 1)))}
        />
      )}
    </Section>
  )
}

const daysOf = ({ from, to }: Holiday): string =>
  from === to ? formatUtcDay(from) : `${formatUtcDay(from)} – ${formatUtcDay(to)}`

function AddForm({ add, isSaving }: { add(holiday: Holiday): void; isSaving: boolean }) {
  const texts = t.settings.holidays
  const [draft, setDraft] = useState({ name: '', from: '', to: '' })
  const to = draft.to === '' ? draft.from : draft.to
  const isWrong = to < draft.from
  const set = (changes: Partial<typeof draft>) => setDraft((before) => ({ ...before, ...changes }))
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (draft.name.trim() === '' || draft.from === '' || isWrong) return
    add({ name: draft.name.trim(), from: draft.from, to, calendar: null })
    setDraft({ name: '', from: '', to: '' })
  }
  return (
    <form onSubmit={submit} noValidate>
      <Group align="flex-end" gap="xs">
        <TextInput
          label={texts.name}
          value={draft.name}
          maxLength={100}
          onChange={(event) => set({ name: event.currentTarget.value })}
        />
        <TextInput
          type="date"
          label={texts.from}
          value={draft.from}
          onChange={(event) => set({ from: event.currentTarget.value })}
        />
        <TextInput
          type="date"
          label={texts.to}
          value={draft.to}
          error={isWrong ? texts.order : undefined}
          onChange={(event) => set({ to: event.currentTarget.value })}
        />
        <Button
          type="submit"
          variant="default"
          leftSection={<IconPlus size={16} />}
          loading={isSaving}
          disabled={draft.name.trim() === '' || draft.from === '' || isWrong}
        >
          {texts.add}
        </Button>
      </Group>
    </form>
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
