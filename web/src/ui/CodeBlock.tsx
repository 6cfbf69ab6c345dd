import styles from './CodeBlock.module.css'
import { CopyAction } from './Copyable.tsx'

interface CodeBlockProps {
  /** Accessible name. */
  label: string
  /** Shown and copied unchanged, may have several lines. */
  value: string
  isLow?: boolean
}

/** Code to copy, or the body of a request. */
export function CodeBlock({ label, value, isLow }: CodeBlockProps) {
  return (
    <section className={styles.block} aria-label={label}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be scrollable by keyboard */}
      <pre className={styles.code} data-low={isLow || undefined} tabIndex={0}>
        {value}
      </pre>
      <CopyAction value={value} label={label} className={styles.copy} />
    </section>
  )
}
