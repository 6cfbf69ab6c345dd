import { type ReactNode, useId } from 'react'
import unseen from '../unseen.module.css'
import styles from './Segments.module.css'

interface SegmentsProps<T extends string> {
  /** What is chosen, for those who hear the page. */
  label: string
  data: readonly { value: T; label: ReactNode }[]
  value: NoInfer<T>
  onChange: (value: NoInfer<T>) => void
  /** As wide as there is room. */
  isWide?: boolean
}

/** A few choices side by side, of which one is made. The library's own is ten times as heavy, and rooms begin with this. */
export function Segments<T extends string>({ label, data, value, onChange, isWide }: SegmentsProps<T>) {
  const name = useId()
  return (
    <div className={styles.segments} role="radiogroup" aria-label={label} data-wide={isWide || undefined}>
      {data.map((one) => (
        <label key={one.value} className={styles.segment}>
          <input
            type="radio"
            className={unseen.unseen}
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
