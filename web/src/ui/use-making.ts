import { useLocation, useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'

/** In an address that leads to where something new is made: `/w/…/leads#new`. */
export const newHash = 'new'

/** Whether the page's form for something new is open: by its button, or by an address that asks for it. */
export function useMaking(): [isMaking: boolean, setMaking: (isMaking: boolean) => void] {
  const isAsked = useLocation({ select: ({ hash }) => hash === newHash })
  const navigate = useNavigate()
  const [isMaking, setMaking] = useState(isAsked)
  useEffect(() => {
    if (!isAsked) return
    setMaking(true)
    // Asked for once: who comes back to the page has not asked again.
    void navigate({ to: '.', search: true, hash: '', replace: true })
  }, [isAsked, navigate])
  return [isMaking, setMaking]
}
