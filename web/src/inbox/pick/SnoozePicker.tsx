import { Button } from '@mantine/core'
import { type FormEvent, useId, useState } from 'react'
import { t } from '../../text/index.ts'
import { localMinute } from '../../ui/format/local-time.ts'
import { formatDateTime } from '../../ui/format/time.ts'
import type { Dropdown } from '../../ui/overlay/dropdown.tsx'
import { Picker, type PickerItem } from '../../ui/overlay/Picker.tsx'
import styles from './SnoozePicker.module.css'
import { readSnooze, snoozeTimes } from './snooze-times.ts'

interface SnoozePickerProps {
  dropdown: Dropdown
  /** Null: until the customer writes. */
  snooze(until: Date | null): void
  /** Reminds the reader if the customer has not written in so many days; not for several conversations. */
  remind?: (days: number) => void
}

interface TimeItem extends PickerItem {
  until: Date | null
  days?: number
}

const silences = [1, 3, 7]

export default function SnoozePicker({ dropdown, snooze, remind }: SnoozePickerProps) {
  const [now] = useState(() => new Date())
  const items = snoozeTimes(now).map(({ name, until }): TimeItem => {
    const hint = until === null ? {} : { hint: formatDateTime(until.toISOString()) }
    return { id: name, label: t.inbox.snoozes[name], until, ...hint }
  })
  const reminders = (remind === undefined ? [] : silences).map(
    (days): TimeItem => ({ id: `silence${days}`, label: t.triage.pick.remindIfSilent({ days }), until: null, days }),
  )
  const createdItem = (term: string): TimeItem | null => {
    const until = readSnooze(term, new Date())
    return until && { id: 'typed', label: t.inbox.snoozedUntil({ moment: formatDateTime(until.toISOString()) }), until }
  }
  const take = (until: Date | null) => {
    dropdown.setOpen(false)
    snooze(until)
  }
  return (
    <Picker
      dropdown={dropdown}
      label={t.inbox.actions.snooze}
      placeholder={t.triage.pick.snoozeSearch}
      items={[...items, ...reminders]}
      created={createdItem}
      choose={({ until, days }) => (days === undefined ? take(until) : remind?.(days))}
    >
      <AtForm now={now} first={tomorrowOf(now)} submitLabel={t.triage.pick.snoozeAt} take={take} />
    </Picker>
  )
}

const tomorrowOf = (now: Date): Date => snoozeTimes(now).find(({ name }) => name === 'tomorrow')?.until ?? now

interface AtFormProps {
  now: Date
  /** Shown at first. */
  first: Date
  submitLabel: string
  take(until: Date): void
}

/** Form for any other time. */
export function AtForm({ now, first, submitLabel, take }: AtFormProps) {
  const { pick } = t.triage
  const id = useId()
  const [value, setValue] = useState(() => localMinute(first.toISOString()))
  const [problem, setProblem] = useState<string | null>(null)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    // React also passes it on to a form around the button, which would send at once.
    event.stopPropagation()
    const until = new Date(value)
    if (until > new Date()) take(until)
    else setProblem(pick.past)
  }
  return (
    <form className={styles.at} onSubmit={submit} noValidate>
      <label htmlFor={id}>{pick.at}</label>
      <input
        id={id}
        type="datetime-local"
        className={styles.field}
        value={value}
        min={localMinute(now.toISOString())}
        aria-invalid={problem !== null || undefined}
        aria-describedby={problem === null ? undefined : `${id}-problem`}
        onChange={(event) => {
          setValue(event.currentTarget.value)
          setProblem(null)
        }}
      />
      {problem !== null && (
        <p id={`${id}-problem`} className={styles.problem} role="alert">
          {problem}
        </p>
      )}
      <Button type="submit" size="xs" variant="default" disabled={value === ''}>
        {submitLabel}
      </Button>
    </form>
  )
}
