import styles from './SkipLink.module.css'

interface SkipLinkProps {
  /** The id of what it leads to, which can be given the focus. */
  to: string
  children: string
}

/** A way past what comes before, for whoever goes by Tab. It shows while it has the focus. */
export function SkipLink({ to, children }: SkipLinkProps) {
  return (
    <a
      className={styles.skip}
      href={`#${to}`}
      onClick={(event) => {
        // The address is the page's own.
        event.preventDefault()
        document.getElementById(to)?.focus()
      }}
    >
      {children}
    </a>
  )
}
