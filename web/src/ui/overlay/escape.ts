import { useEffect, useRef } from 'react'

interface Layer {
  close(): void
  /** Whether Escape, pressed at this element, applies to the layer. */
  isActive(target: Element): boolean
}

const open: Layer[] = []

/** Makes Escape close only the topmost open layer. */
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
    // Captured before other key handlers.
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
  // A list that drops from a field closes alone: the library marks the field.
  if (event.key !== 'Escape' || event.isComposing || target.getAttribute('data-mantine-stop-propagation') === 'true')
    return
  const top = open.at(-1)
  if (top?.isActive(target) !== true) return
  event.preventDefault()
  event.stopPropagation()
  top.close()
}

/** Returns true everywhere except in what has dropped over a dialog. */
export const isOverPage = (target: Element): boolean => {
  const layer = target.closest('[role="dialog"], [role="menu"]')
  return layer === null || layer.matches('[aria-modal="true"]')
}

/** Returns whether the focus was lost because its element is gone; for dropdowns, which handle keys within them. */
export const isOutsideFocus = (target: Element): boolean => target === document.body
