import { useLocation, useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'

/** Hash of an address that opens the form for a new item: `/w/…/leads#new`. */
export const newHash = 'new'

/** Returns whether the form for a new item is open, by its button or by the address. */
export function useCreate(): [isCreating: boolean, setCreating: (isCreating: boolean) => void] {
  const place = useLocation({ select: ({ pathname }) => pathname })
  const [own] = useState(place)
  // While navigating away, the page is still mounted when the address names the next one.
  const isRequested = useLocation({ select: ({ hash, pathname }) => hash === newHash && pathname === own })
  const navigate = useNavigate()
  const [isCreating, setCreating] = useState(isRequested)
  useEffect(() => {
    if (!isRequested) return
    setCreating(true)
    // Removed from the address, so that returning to the page does not open it again.
    void navigate({ to: '.', search: true, hash: '', replace: true })
  }, [isRequested, navigate])
  return [isCreating, setCreating]
}
