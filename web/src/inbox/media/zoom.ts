/** Position of an image in its frame: offset of its center from that of the frame in pixels, and scale. */
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
  /** Sizes of the frame, and of the image at scale 1. */
  frame: { width: number; height: number }
  picture: { width: number; height: number }
}

export const initialView: View = { scale: 1, x: 0, y: 0 }
export const maxScale = 8

/** Zooms around a point, relative to the center of the frame, which stays in place. */
export function zoomAt(view: View, factor: number, point: Point): View {
  const scale = Math.min(maxScale, Math.max(1, view.scale * factor))
  if (scale === 1) return initialView
  const grown = scale / view.scale
  return { scale, x: point.x - (point.x - view.x) * grown, y: point.y - (point.y - view.y) * grown }
}

/** Keeps the edges of the image at or outside those of the frame where possible. */
export function clampView({ scale, x, y }: View, { frame, picture }: Box): View {
  const within = (at: number, long: number, frameSize: number) => {
    const most = Math.max(0, (long * scale - frameSize) / 2)
    return Math.min(most, Math.max(-most, at)) + 0
  }
  return { scale, x: within(x, picture.width, frame.width), y: within(y, picture.height, frame.height) }
}

/** Applies a pinch from `before` to `now`. */
export function pinchView(view: View, before: readonly [Point, Point], now: readonly [Point, Point]): View {
  const far = ([a, b]: readonly [Point, Point]) => Math.hypot(a.x - b.x, a.y - b.y)
  const middle = ([a, b]: readonly [Point, Point]) => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 })
  const [from, to] = [middle(before), middle(now)]
  const zoomed = zoomAt(view, far(now) / Math.max(1, far(before)), from)
  return zoomed.scale === 1 ? initialView : { ...zoomed, x: zoomed.x + to.x - from.x, y: zoomed.y + to.y - from.y }
}

const swipePx = 60

/** Returns the direction of a swipe over an unzoomed image: 1 next, -1 previous, 0 none. */
export function swipeOf({ scale }: View, moved: Point): -1 | 0 | 1 {
  if (scale > 1 || Math.abs(moved.x) < swipePx || Math.abs(moved.x) < 2 * Math.abs(moved.y)) return 0
  return moved.x < 0 ? 1 : -1
}
