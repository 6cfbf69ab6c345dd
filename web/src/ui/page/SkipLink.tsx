import styles from './SkipLink.module.css'

interface SkipLinkProps {
  label: string
  /** Marks the place that it leads to, as `data-skip-to`. */
  to: string
}

/** For who comes by keyboard: past what is the same on every page, or long. In sight while it has the focus. */
export function SkipLink({ label, to }: SkipLinkProps) {
  return (
    <a
      className={styles.link}
      href={`#${to}`}
      onClick={(event) => {
        // The address names what is shown, not where one is in it.
        event.preventDefault()
        document.querySelector<HTMLElement>(`[data-skip-to="${to}"]`)?.focus()
      }}
    >
      {label}
    </a>
  )
}
