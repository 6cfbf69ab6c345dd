import { type RefObject, useCallback, useEffect, useRef, useState } from 'react'
import { type Box, clampView, initialView, type Point, pinchView, swipeOf, type View, zoomAt } from './zoom.ts'

const step = 1.5
const middle: Point = { x: 0, y: 0 }

export interface Zoom {
  view: View
  larger(): void
  smaller(): void
  reset(): void
  frame: RefObject<HTMLDivElement | null>
  picture: RefObject<HTMLImageElement | null>
  change(next: (view: View) => View): void
}

/** Returns the zoom and position of the current file; each file starts unzoomed. */
export function useZoom(id: string | undefined): Zoom {
  const [view, setView] = useState(initialView)
  const frame = useRef<HTMLDivElement>(null)
  const picture = useRef<HTMLImageElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs for each file
  useEffect(() => setView(initialView), [id])
  const change = useCallback((next: (view: View) => View) => {
    setView((now) => {
      const box = boxOf(frame.current, picture.current)
      return box === null ? now : clampView(next(now), box)
    })
  }, [])
  return {
    view,
    larger: () => change((now) => zoomAt(now, step, middle)),
    smaller: () => change((now) => zoomAt(now, 1 / step, middle)),
    reset: () => setView(initialView),
    frame,
    picture,
    change,
  }
}

function boxOf(frame: HTMLElement | null, picture: HTMLElement | null): Box | null {
  if (frame === null || picture === null) return null
  const size = ({ offsetWidth, offsetHeight }: HTMLElement) => ({ width: offsetWidth, height: offsetHeight })
  return { frame: size(frame), picture: size(picture) }
}

type MousePlace = Pick<MouseEvent, 'clientX' | 'clientY'>

function pointIn(frame: HTMLElement, { clientX, clientY }: MousePlace): Point {
  const box = frame.getBoundingClientRect()
  return { x: clientX - box.left - box.width / 2, y: clientY - box.top - box.height / 2 }
}

/** Gestures on the image: pinch, drag, swipe, double tap, wheel. */
export function useGestures({ frame, change, view }: Zoom, go: (step: -1 | 1) => void) {
  const fingers = useRef(new Map<number, Point>())
  const start = useRef<Point | null>(null)
  const pointOf = (event: MousePlace): Point => (frame.current === null ? middle : pointIn(frame.current, event))
  useEffect(() => {
    const element = frame.current
    if (element === null) return
    // React's wheel listener is passive and cannot prevent scrolling.
    const onWheel = (event: WheelEvent) => {
      event.preventDefault()
      const point = pointIn(element, event)
      change((now) => zoomAt(now, Math.exp(-Math.max(-100, Math.min(100, event.deltaY)) / 300), point))
    }
    element.addEventListener('wheel', onWheel, { passive: false })
    return () => element.removeEventListener('wheel', onWheel)
  }, [frame, change])
  return {
    onPointerDown: (event: React.PointerEvent) => {
      event.currentTarget.setPointerCapture(event.pointerId)
      fingers.current.set(event.pointerId, pointOf(event))
      start.current = fingers.current.size === 1 ? pointOf(event) : null
    },
    onPointerMove: (event: React.PointerEvent) => {
      const before = fingers.current.get(event.pointerId)
      if (before === undefined) return
      const now = pointOf(event)
      const [, other] = [...fingers.current].find(([id]) => id !== event.pointerId) ?? []
      fingers.current.set(event.pointerId, now)
      if (other !== undefined) change((view) => pinchView(view, [before, other], [now, other]))
      else if (view.scale > 1)
        change((view) => ({ ...view, x: view.x + now.x - before.x, y: view.y + now.y - before.y }))
    },
    onPointerUp: (event: React.PointerEvent) => {
      fingers.current.delete(event.pointerId)
      if (start.current === null) return
      const now = pointOf(event)
      const moved = { x: now.x - start.current.x, y: now.y - start.current.y }
      const direction = swipeOf(view, moved)
      if (direction !== 0) go(direction)
    },
    onPointerCancel: (event: React.PointerEvent) => void fingers.current.delete(event.pointerId),
    onDoubleClick: (event: React.MouseEvent) => {
      const point = pointOf(event)
      change((now) => (now.scale > 1 ? initialView : zoomAt(now, 2, point)))
    },
  }
}
