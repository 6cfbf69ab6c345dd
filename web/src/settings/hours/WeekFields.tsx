import { Button, Select } from '@mantine/core'
import { useState } from 'react'
import { t } from '../../text/index.ts'
import { timeZones } from '../../ui/format/local-time.ts'
import { weekdays } from '../../ui/format/time.ts'
import { DayHours } from './DayHours.tsx'
import styles from './HoursSection.module.css'
import { copyMonday, type Hours } from './week-hours.ts'

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
