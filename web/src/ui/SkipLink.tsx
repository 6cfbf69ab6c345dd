import styles from './SkipLink.module.css'

interface SkipLinkProps {
  /** Id of the target, which must be focusable. */
  to: string
  children: string
}

/** Link that skips navigation for keyboard users; visible while focused. */
export function SkipLink({ to, children }: SkipLinkProps) {
  return (
    <a
      className={styles.skip}
      href={`#${to}`}
      onClick={(event) => {
        // Keeps the hash out of the address, which the router uses.
        event.preventDefault()
        document.getElementById(to)?.focus()
      }}
    >
      {children}
    </a>
  )
}
