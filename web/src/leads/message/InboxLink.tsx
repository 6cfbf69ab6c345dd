import type { MouseEvent, ReactNode } from 'react'

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
    <a className={className} href={href} title={label} data-ours={isOutbound || undefined} onClick={followHere}>
      {children}
    </a>
  )
}

/** Follows an internal link without loading the page again, unless it opens elsewhere. */
export function followHere(event: MouseEvent<HTMLAnchorElement>): void {
  if (event.metaKey || event.ctrlKey || event.shiftKey) return
  event.preventDefault()
  goTo(event.currentTarget.href)
}

/** Navigates by a history change, which the router listens to. */
export const goTo = (href: string): void => window.history.pushState({}, '', href)
