import { useLocation, useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'

/** In an address that leads to where something new is made: `/w/…/leads#new`. */
export const newHash = 'new'

/** Whether the page's form for something new is open: by its button, or by an address that asks for it. */
export function useCreate(): [isMaking: boolean, setMaking: (isMaking: boolean) => void] {
  const place = useLocation({ select: ({ pathname }) => pathname })
  const [own] = useState(place)
  // A page that one is leaving is still there when the address names the next.
  const isRequested = useLocation({ select: ({ hash, pathname }) => hash === newHash && pathname === own })
  const navigate = useNavigate()
  const [isMaking, setMaking] = useState(isRequested)
  useEffect(() => {
    if (!isRequested) return
    setMaking(true)
    // Asked for once: who comes back to the page has not asked again.
    void navigate({ to: '.', search: true, hash: '', replace: true })
  }, [isRequested, navigate])
  return [isMaking, setMaking]
}
