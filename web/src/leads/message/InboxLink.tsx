import type { ReactNode } from 'react'

interface InboxLinkProps {
  href: string
  /** Accessible name, if the content is the name of a person. */
  label?: string
  isOutbound?: boolean
  className: string | undefined
  children: ReactNode
}

/** Internal link that also opens in a new tab. */
export function InboxLink({ href, label, isOutbound, className, children }: InboxLinkProps) {
  return (
    <a
      className={className}
      href={href}
      title={label}
      data-ours={isOutbound || undefined}
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

/** Navigates by a history change, which the router listens to. */
export const goTo = (href: string): void => window.history.pushState({}, '', href)
