import { Button, FileButton, Group, TextInput } from '@mantine/core'
import { IconPlus, IconUpload, IconX } from '@tabler/icons-react'
import { type KeyboardEvent, useState } from 'react'
import { type Holiday, useHolidayImport } from '../../data/team/services.ts'
import type { Workspace } from '../../data/workspace.ts'
import { useWorkspaceChange } from '../../data/workspace-change.ts'
import { hasRole } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import { formatUtcDay } from '../../ui/format/time.ts'
import { showError, showToast } from '../../ui/overlay/toasts.tsx'
import { Section } from '../../ui/page/Section.tsx'
import { RowButton } from '../parts/RowButton.tsx'
import styles from './HoursSection.module.css'

/** A holiday of the workspace, perhaps of an imported calendar, or of a team. */
type HolidayEntry = Omit<Holiday, 'calendar'> & Partial<Pick<Holiday, 'calendar'>>

/** Adds a holiday in the order of days. */
export const withHoliday = <H extends HolidayEntry>(holidays: readonly H[], added: H): H[] =>
  [...holidays, added].sort((a, b) => (a.from < b.from ? -1 : 1))

interface HolidayListProps<H extends HolidayEntry> {
  holidays: readonly H[]
  mayChange: boolean
  isSaving?: boolean
  remove(holiday: H): void
}

export function HolidayList<H extends HolidayEntry>({
  holidays,
  mayChange,
  isSaving = false,
  remove,
}: HolidayListProps<H>) {
  const texts = t.settings.holidays
  if (holidays.length === 0) return <p className={styles.closed}>{texts.empty}</p>
  return (
    <ul className={styles.holidays}>
      {holidays.map((holiday) => (
        <li key={`${holiday.calendar} ${holiday.from} ${holiday.to} ${holiday.name}`}>
          <span className={styles.holidayDay}>{daysOf(holiday)}</span>
          <span className={styles.holidayName}>{holiday.name}</span>
          {holiday.calendar != null && <span className={styles.closed}>{holiday.calendar}</span>}
          {mayChange && (
            <RowButton
              label={texts.remove({ name: holiday.name })}
              icon={IconX}
              hasTitle
              disabled={isSaving}
              run={() => remove(holiday)}
            />
          )}
        </li>
      ))}
    </ul>
  )
}

const daysOf = ({ from, to }: HolidayEntry): string =>
  from === to ? formatUtcDay(from) : `${formatUtcDay(from)} – ${formatUtcDay(to)}`

interface AddHolidayProps {
  add(holiday: Omit<Holiday, 'calendar'>): void
  isSaving?: boolean
}

/** Fields of a new holiday. No form of its own: it may be inside of one. */
export function AddHoliday({ add, isSaving = false }: AddHolidayProps) {
  const texts = t.settings.holidays
  const [draft, setDraft] = useState({ name: '', from: '', to: '' })
  const to = draft.to === '' ? draft.from : draft.to
  const isWrong = to < draft.from
  const isIncomplete = draft.name.trim() === '' || draft.from === '' || isWrong
  const submit = () => {
    if (isIncomplete) return
    add({ name: draft.name.trim(), from: draft.from, to })
    setDraft({ name: '', from: '', to: '' })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter') return
    event.preventDefault()
    submit()
  }
  const field = (name: keyof typeof draft) => ({
    value: draft[name],
    onChange: (event: { currentTarget: { value: string } }) =>
      setDraft({ ...draft, [name]: event.currentTarget.value }),
    onKeyDown,
  })
  return (
    <Group align="flex-end" gap="xs">
      <TextInput label={texts.name} maxLength={100} {...field('name')} />
      <TextInput type="date" label={texts.from} {...field('from')} />
      <TextInput type="date" label={texts.to} {...field('to')} error={isWrong ? texts.order : undefined} />
      <Button
        variant="default"
        leftSection={<IconPlus size={16} />}
        loading={isSaving}
        disabled={isIncomplete}
        onClick={submit}
      >
        {texts.add}
      </Button>
    </Group>
  )
}

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
