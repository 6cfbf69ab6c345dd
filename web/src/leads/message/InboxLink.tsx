import type { ReactNode } from 'react'

interface InboxLinkProps {
  href: string
  /** What it does, where its words are somebody's. */
  label?: string
  isOurs?: boolean
  className: string | undefined
  children: ReactNode
}

/** A way to a place of the app that a new tab takes too. */
export function InboxLink({ href, label, isOurs, className, children }: InboxLinkProps) {
  return (
    <a
      className={className}
      href={href}
      title={label}
      data-ours={isOurs || undefined}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return
        event.preventDefault()
        goTo(event.currentTarget.href)
      }}
    >
      {children}
    </a>
  )
}

/** The router follows what is pushed onto the history. */
export const goTo = (href: string): void => window.history.pushState({}, '', href)
