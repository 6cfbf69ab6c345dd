import { type RefObject, useEffect, useRef } from 'react'

/** Distance that starts a swipe, maximum movement of the bubble, and distance that triggers the action. */
const [beginPx, maxPx, enoughPx] = [12, 76, 56]

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
    let pull: { pointer: number; x: number; y: number; row: HTMLElement; by: number } | null = null
    const release = () => {
      if (pull !== null) pull.row.style.transform = ''
      pull = null
    }
    const on = (type: string, act: (event: PointerEvent) => void) =>
      target.addEventListener(type, (event) => act(event as PointerEvent), { signal: ending.signal })
    on('pointerdown', ({ pointerType, pointerId: pointer, clientX: x, clientY: y, target: at }) => {
      const row = at instanceof Element ? at.closest<HTMLElement>(':has(> [data-message-id])') : null
      if (pointerType === 'touch' && row !== null) pull = { pointer, x, y, row, by: 0 }
    })
    on('pointermove', ({ pointerId, clientX, clientY }) => {
      if (pull === null || pull.pointer !== pointerId) return
      const [right, down] = [clientX - pull.x, Math.abs(clientY - pull.y)]
      // A vertical movement first is scrolling.
      if (pull.by === 0 && (down > right || right < beginPx)) return
      pull.by = Math.max(1, Math.min(maxPx, right))
      pull.row.style.transform = `translateX(${pull.by}px)`
    })
    on('pointercancel', release)
    on('pointerup', () => {
      const id = pull?.row.querySelector<HTMLElement>(':scope > [data-message-id]')?.dataset.messageId
      const isEnough = (pull?.by ?? 0) >= enoughPx
      release()
      if (isEnough && id !== undefined) latest.current(id)
    })
    return () => {
      release()
      ending.abort()
    }
  }, [pane, isOn])
}
