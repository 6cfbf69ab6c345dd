import { NumberInput, Select } from '@mantine/core'
import { useState } from 'react'
import { t } from '../../text/index.ts'
import styles from './Automation.module.css'
import { joinMinutes, splitMinutes, type Unit } from './rule-draft.ts'

interface DurationProps {
  label: string
  minutes: number
  set(minutes: number): void
}

/** A time in minutes, hours or days. */
export function Duration({ label, minutes, set }: DurationProps) {
  const texts = t.settings.automation
  // Typing 60 minutes must not become one hour under the cursor.
  const [shown, setShown] = useState(() => splitMinutes(minutes))
  const change = (to: { count: number; unit: Unit }) => {
    setShown(to)
    set(joinMinutes(to.count, to.unit))
  }
  return (
    <div className={styles.pair}>
      <NumberInput
        aria-label={label}
        min={1}
        max={10_080}
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
