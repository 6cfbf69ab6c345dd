import { Button, Select, TextInput } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import { useId, useState } from 'react'
import { t } from '../../text/index.ts'
import { timeZones } from '../../ui/format/local-time.ts'
import { weekdayName, weekdays } from '../../ui/format/time.ts'
import { RowButton } from '../parts/RowButton.tsx'
import styles from './HoursSection.module.css'
import {
  copyMonday,
  formatEnd,
  type Hours,
  maxSpans,
  parseEnd,
  problemOf,
  type Span,
  withAddedSpan,
} from './week-hours.ts'

interface WeekFieldsProps {
  hours: Hours
  change(to: Partial<Hours>): void
  error: string | undefined
  disabled: boolean
}

/** Time zone and hours of each day of the week. */
export function WeekFields({ hours: { timeZone, week }, change, error, disabled }: WeekFieldsProps) {
  const texts = t.settings.hours
  const [zones] = useState(() => timeZones(timeZone))
  return (
    <>
      <Select
        label={texts.timeZone}
        data={zones}
        searchable
        allowDeselect={false}
        maw={320}
        value={timeZone}
        onChange={(chosen) => chosen !== null && change({ timeZone: chosen })}
        error={error}
        disabled={disabled}
      />
      <div className={styles.week}>
        {weekdays.map((day, n) => (
          <DayHours
            key={day}
            nth={n}
            spans={week[day]}
            change={(spans) => change({ week: { ...week, [day]: spans } })}
            disabled={disabled}
          />
        ))}
      </div>
      {!disabled && (
        <div>
          <Button variant="default" size="compact-sm" onClick={() => change({ week: copyMonday(week) })}>
            {texts.copyMonday}
          </Button>
        </div>
      )}
    </>
  )
}

interface DayHoursProps {
  /** Day of the week; Monday is 0. */
  nth: number
  spans: readonly Span[]
  change(to: Span[]): void
  disabled: boolean
}

/** Business hours of a day of the week, or closed. */
function DayHours({ nth, spans, change, disabled }: DayHoursProps) {
  const texts = t.settings.hours
  const id = useId()
  const name = weekdayName(nth)
  const problem = problemOf(spans)
  const set = (at: number, to: Partial<Span>) => change(spans.map((span, n) => (n === at ? { ...span, ...to } : span)))
  return (
    <fieldset className={styles.day} aria-describedby={problem === null ? undefined : id}>
      <legend className={styles.name}>{name}</legend>
      <div className={styles.spans}>
        {spans.length === 0 && <span className={styles.closed}>{texts.closed}</span>}
        {spans.map((span, n) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: spans are identified by position
          <div key={n} className={styles.span}>
            <TextInput
              type="time"
              aria-label={texts.from({ day: name, nth: n + 1 })}
              value={span.from}
              onChange={(event) => set(n, { from: event.currentTarget.value })}
              disabled={disabled}
            />
            <span aria-hidden>–</span>
            <TextInput
              type="time"
              aria-label={texts.to({ day: name, nth: n + 1 })}
              value={formatEnd(span.to)}
              onChange={(event) => set(n, { to: parseEnd(event.currentTarget.value) })}
              disabled={disabled}
            />
            {!disabled && (
              <RowButton
                label={texts.remove({ day: name, nth: n + 1 })}
                icon={IconX}
                hasTitle
                run={() => change(spans.toSpliced(n, 1))}
              />
            )}
          </div>
        ))}
        {problem !== null && (
          <p id={id} className={styles.problem} role="alert">
            {texts.problems[problem]}
          </p>
        )}
      </div>
      {!disabled && spans.length < maxSpans && (
        <Button
          variant="subtle"
          size="compact-sm"
          leftSection={<IconPlus size={14} />}
          aria-label={texts.addTo({ day: name })}
          onClick={() => change(withAddedSpan(spans))}
        >
          {texts.add}
        </Button>
      )}
    </fieldset>
  )
}
