/** How a picture lies in its frame: where its middle is from that of the frame, in pixels, and how much larger it is. */
export interface View {
  scale: number
  x: number
  y: number
}

export interface Point {
  x: number
  y: number
}

export interface Box {
  /** Of the frame, and of the picture at scale 1. */
  frame: { width: number; height: number }
  picture: { width: number; height: number }
}

export const initialView: View = { scale: 1, x: 0, y: 0 }
export const maxScale = 8

/** Larger or smaller about a point, told from the middle of the frame, which stays where it is. */
export function zoomAt(view: View, factor: number, point: Point): View {
  const scale = Math.min(maxScale, Math.max(1, view.scale * factor))
  if (scale === 1) return initialView
  const grown = scale / view.scale
  return { scale, x: point.x - (point.x - view.x) * grown, y: point.y - (point.y - view.y) * grown }
}

/** No edge of the picture is drawn into the frame further than it has to be. */
export function clampView({ scale, x, y }: View, { frame, picture }: Box): View {
  const within = (at: number, long: number, room: number) => {
    const most = Math.max(0, (long * scale - room) / 2)
    return Math.min(most, Math.max(-most, at)) + 0
  }
  return { scale, x: within(x, picture.width, frame.width), y: within(y, picture.height, frame.height) }
}

/** What two fingers do that were at `before` and are at `now`. */
export function pinchView(view: View, before: readonly [Point, Point], now: readonly [Point, Point]): View {
  const far = ([a, b]: readonly [Point, Point]) => Math.hypot(a.x - b.x, a.y - b.y)
  const middle = ([a, b]: readonly [Point, Point]) => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 })
  const [from, to] = [middle(before), middle(now)]
  const zoomed = zoomAt(view, far(now) / Math.max(1, far(before)), from)
  return zoomed.scale === 1 ? initialView : { ...zoomed, x: zoomed.x + to.x - from.x, y: zoomed.y + to.y - from.y }
}

const swipePx = 60

/** Which way a finger that went so far over a whole picture wants to go: 1 to the next, -1 back, 0 nowhere. */
export function swipeOf({ scale }: View, moved: Point): -1 | 0 | 1 {
  if (scale > 1 || Math.abs(moved.x) < swipePx || Math.abs(moved.x) < 2 * Math.abs(moved.y)) return 0
  return moved.x < 0 ? 1 : -1
}
