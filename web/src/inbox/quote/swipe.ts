import { type RefObject, useEffect, useRef } from 'react'

/** Distance that starts a swipe, maximum movement of the bubble, and distance that triggers the action. */
const [beginPx, maxPx, triggerPx] = [12, 76, 56]

/** Calls back with the id of a message that was swiped aside. */
export function useSwipe(
  pane: RefObject<HTMLElement | null>,
  isOn: boolean,
  swiped: (messageId: string) => void,
): void {
  const latest = useRef(swiped)
  latest.current = swiped
  useEffect(() => {
    const target = pane.current
    if (target === null || !isOn) return
    const ending = new AbortController()
    let swipe: { pointer: number; x: number; y: number; row: HTMLElement; by: number } | null = null
    const release = () => {
      if (swipe !== null) swipe.row.style.transform = ''
      swipe = null
    }
    const on = (type: string, act: (event: PointerEvent) => void) =>
      target.addEventListener(type, (event) => act(event as PointerEvent), { signal: ending.signal })
    on('pointerdown', ({ pointerType, pointerId: pointer, clientX: x, clientY: y, target: at }) => {
      const row = at instanceof Element ? at.closest<HTMLElement>(':has(> [data-message-id])') : null
      if (pointerType === 'touch' && row !== null) swipe = { pointer, x, y, row, by: 0 }
    })
    on('pointermove', ({ pointerId, clientX, clientY }) => {
      if (swipe === null || swipe.pointer !== pointerId) return
      const [right, down] = [clientX - swipe.x, Math.abs(clientY - swipe.y)]
      // A vertical movement first is scrolling.
      if (swipe.by === 0 && (down > right || right < beginPx)) return
      swipe.by = Math.max(1, Math.min(maxPx, right))
      swipe.row.style.transform = `translateX(${swipe.by}px)`
    })
    on('pointercancel', release)
    on('pointerup', () => {
      const id = swipe?.row.querySelector<HTMLElement>(':scope > [data-message-id]')?.dataset.messageId
      const isEnough = (swipe?.by ?? 0) >= triggerPx
      release()
      if (isEnough && id !== undefined) latest.current(id)
    })
    return () => {
      release()
      ending.abort()
    }
  }, [pane, isOn])
}
