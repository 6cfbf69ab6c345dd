import { useEffect, useRef } from 'react'

interface Layer {
  close(): void
  /** Whether Escape, pressed there, is for it. */
  isActive(target: Element): boolean
}

const open: Layer[] = []

/** Has Escape close what is open on top, and nothing below it. */
export function useEscape(isOpen: boolean, close: () => void, isActive: (target: Element) => boolean): void {
  const latest = useRef({ close, isActive })
  useEffect(() => {
    latest.current = { close, isActive }
  })
  useEffect(() => {
    if (!isOpen) return
    const layer: Layer = {
      close: () => latest.current.close(),
      isActive: (target) => latest.current.isActive(target),
    }
    // Before whatever else hears keys.
    if (open.length === 0) window.addEventListener('keydown', onKeyDown, { capture: true })
    open.push(layer)
    return () => {
      open.splice(open.indexOf(layer), 1)
      if (open.length === 0) window.removeEventListener('keydown', onKeyDown, { capture: true })
    }
  }, [isOpen])
}

function onKeyDown(event: KeyboardEvent): void {
  const target = event.target instanceof Element ? event.target : document.body
  // A list that has dropped from a field closes alone: the library marks the field.
  if (event.key !== 'Escape' || event.isComposing || target.getAttribute('data-mantine-stop-propagation') === 'true')
    return
  const top = open.at(-1)
  if (top?.isActive(target) !== true) return
  event.preventDefault()
  event.stopPropagation()
  top.close()
}

/** For a dialog: all but what is pressed in something that has dropped over it. */
export const isOverPage = (target: Element): boolean => {
  const layer = target.closest('[role="dialog"], [role="menu"]')
  return layer === null || layer.matches('[aria-modal="true"]')
}

/** For what drops from a button, which hears its own keys: what would be heard by nothing, when what had the focus is gone. */
export const isOutsideFocus = (target: Element): boolean => target === document.body
