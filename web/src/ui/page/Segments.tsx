import { type ReactNode, useId } from 'react'
import visuallyHidden from '../visually-hidden.module.css'
import styles from './Segments.module.css'

interface SegmentsProps<T extends string> {
  /** Accessible name. */
  label: string
  data: readonly { value: T; label: ReactNode }[]
  value: NoInfer<T>
  onChange: (value: NoInfer<T>) => void
  /** As wide as possible. */
  isWide?: boolean
}

/** Segmented control. The library's is ten times as large, and pages load this first. */
export function Segments<T extends string>({ label, data, value, onChange, isWide }: SegmentsProps<T>) {
  const name = useId()
  return (
    <div className={styles.segments} role="radiogroup" aria-label={label} data-wide={isWide || undefined}>
      {data.map((one) => (
        <label key={one.value} className={styles.segment}>
          <input
            type="radio"
            className={visuallyHidden.hidden}
            name={name}
            value={one.value}
            checked={one.value === value}
            onChange={() => onChange(one.value)}
          />
          {one.label}
        </label>
      ))}
    </div>
  )
}
