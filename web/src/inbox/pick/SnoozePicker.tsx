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
}

interface TimeItem extends PickerItem {
  until: Date | null
}

export default function SnoozePicker({ dropdown, snooze }: SnoozePickerProps) {
  const [now] = useState(() => new Date())
  const items = snoozeTimes(now).map(({ name, until }): TimeItem => {
    const hint = until === null ? {} : { hint: formatDateTime(until.toISOString()) }
    return { id: name, label: t.inbox.snoozes[name], until, ...hint }
  })
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
      items={items}
      created={createdItem}
      choose={({ until }) => take(until)}
    >
      <AtForm now={now} take={take} />
    </Picker>
  )
}

/** Form for any other time. */
function AtForm({ now, take }: { now: Date; take(until: Date): void }) {
  const { pick } = t.triage
  const id = useId()
  const tomorrow = snoozeTimes(now).find(({ name }) => name === 'tomorrow')?.until ?? now
  const [value, setValue] = useState(() => localMinute(tomorrow.toISOString()))
  const [problem, setProblem] = useState<string | null>(null)
  const submit = (event: FormEvent) => {
    event.preventDefault()
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
        {pick.snoozeAt}
      </Button>
    </form>
  )
}
