import { useEffect, useRef, useState } from 'react'
import type { LeadAddress } from '../../shared/lead-view/address.ts'
import { t } from '../../text/index.ts'
import { SearchField } from '../../ui/page/SearchField.tsx'
import type { GoTo } from '../fields/use-address.ts'

const debounceMs = 120

export function LeadSearch({ address, goTo }: { address: LeadAddress; goTo: GoTo }) {
  const q = address.q ?? ''
  const [text, setText] = useState(q)
  const sent = useRef(q)
  useEffect(() => {
    if (q === sent.current) return
    sent.current = q
    setText(q)
  }, [q])
  useEffect(() => {
    if (text === sent.current) return
    const timer = setTimeout(() => {
      sent.current = text
      goTo(({ q: _, ...before }) => (text.trim() === '' ? before : { ...before, q: text }), { replace: true })
    }, debounceMs)
    return () => clearTimeout(timer)
  }, [text, goTo])
  return (
    <SearchField
      id="lead-search"
      isSmall
      aria-label={t.leads.keys.search}
      placeholder={t.leads.searchHelp}
      value={text}
      onChange={(event) => setText(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' && event.key !== 'Enter') return
        if (event.key === 'Escape') setText('')
        event.currentTarget.blur()
      }}
      end={text === '' ? null : { label: t.leads.clearSearch, run: () => setText('') }}
    />
  )
}
