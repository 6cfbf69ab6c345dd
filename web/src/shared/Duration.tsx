import { NumberInput, Select } from '@mantine/core'
import { useState } from 'react'
import { t } from '../text/index.ts'
import styles from './Duration.module.css'

interface DurationProps {
  label: string
  minutes: number
  /** Least count; default 1. */
  min?: number
  set(minutes: number): void
}

const minutesIn = { days: 1440, hours: 60, minutes: 1 } as const
type Unit = keyof typeof minutesIn

/** Returns a time as the largest unit that divides it. */
function splitMinutes(minutes: number): { count: number; unit: Unit } {
  const unit = minutes === 0 ? 'minutes' : minutes % 1440 === 0 ? 'days' : minutes % 60 === 0 ? 'hours' : 'minutes'
  return { count: minutes / minutesIn[unit], unit }
}

/** A time in minutes, hours or days. */
export function Duration({ label, minutes, min = 1, set }: DurationProps) {
  const texts = t.settings.automation
  // Typing 60 minutes must not become one hour under the cursor.
  const [shown, setShown] = useState(() => splitMinutes(minutes))
  const change = (to: { count: number; unit: Unit }) => {
    setShown(to)
    set(Math.max(min, Math.round(to.count * minutesIn[to.unit])))
  }
  return (
    <div className={styles.pair}>
      <NumberInput
        aria-label={label}
        min={min}
        max={129_600}
        allowDecimal={false}
        value={shown.count}
        onChange={(count) => count !== '' && change({ ...shown, count: Number(count) })}
      />
      <Select
        aria-label={texts.unit}
        data={Object.entries(texts.units).map(([value, label]) => ({ value, label }))}
        value={shown.unit}
        allowDeselect={false}
        onChange={(unit) => unit !== null && change({ ...shown, unit: unit as Unit })}
      />
    </div>
  )
}
