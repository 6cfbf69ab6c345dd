import { type ComponentType, createElement, type ReactNode, useEffect, useState, useSyncExternalStore } from 'react'
import { codeOf, type Load, useCodeTries } from './code.ts'
import { complain } from './notices.tsx'

const waiting: (() => unknown)[] = []
const watchers = new Set<() => void>()
let isStanding = false
let isBusy = false

/** Runs something once the page stands and the browser has nothing else to do. */
export function whenIdle(run: () => unknown): void {
  waiting.push(run)
  if (isStanding) void work()
}

/** From now on what waits for an idle moment gets one. */
export function pageStands(): void {
  isStanding = true
  for (const changed of watchers) changed()
  void work()
}

/** Whether the page stands: what is drawn only then keeps nothing of it waiting. */
export function useStanding(): boolean {
  return useSyncExternalStore(watch, () => isStanding)
}

function watch(changed: () => void): () => void {
  watchers.add(changed)
  return () => watchers.delete(changed)
}

const drawnMs = 500

/** What has just come is drawn first. A page that nobody sees draws nothing. */
export function afterDrawing(run: () => void): void {
  let isDone = false
  const once = () => {
    if (!isDone) run()
    isDone = true
  }
  setTimeout(once, drawnMs)
  requestAnimationFrame(() => requestAnimationFrame(once))
}

/** Whether the component has been drawn: what is fetched only then keeps nothing of it waiting. */
export function useDrawn(): boolean {
  const [isDrawn, setDrawn] = useState(false)
  useEffect(() => {
    let isHere = true
    afterDrawing(() => {
      if (isHere) setDrawn(true)
    })
    return () => {
      isHere = false
    }
  }, [])
  return isDrawn
}

async function work(): Promise<void> {
  if (isBusy) return
  isBusy = true
  for (let run = waiting.shift(); run !== undefined; run = waiting.shift()) {
    await idleMoment()
    await run()
  }
  isBusy = false
}

// Safari knows no idle moments.
const idleMoment = (): Promise<unknown> =>
  new Promise((resolve) =>
    'requestIdleCallback' in window ? window.requestIdleCallback(resolve, { timeout: 2000 }) : setTimeout(resolve, 200),
  )

/** `preload` has it there before it is drawn. */
type LateComponent<P> = ComponentType<P> & { preload(): Promise<void> }

/**
 * A component that the first look does without: its code comes when it is first drawn. Once there it is drawn at once,
 * which React's own `lazy` does not do: that shows a gap first, and for a third of a second. What cannot be had is
 * complained of, and is not there.
 */
export function whenWanted<P extends object>(load: Load<{ default: ComponentType<P> }>): LateComponent<P> {
  return wanted(codeOf(load))
}

/**
 * The same, fetched in an idle moment before it is wanted. `Instead` stands in its place while it cannot be had, where that would
 * leave a gap.
 */
export function later<P extends object>(
  load: Load<{ default: ComponentType<P> }>,
  Instead?: ComponentType<{ error: unknown }>,
): ComponentType<P> {
  const code = codeOf(load)
  whenIdle(code.preload)
  return wanted(code, Instead)
}

function wanted<P extends object>(
  code: ReturnType<typeof codeOf<{ default: ComponentType<P> }>>,
  Instead: ComponentType<{ error: unknown }> = Complaint,
): LateComponent<P> {
  function Later(props: P): ReactNode {
    useCodeTries()
    const found = code.read()
    // No hook may follow: what was suspended is drawn on as an update, which knows only the hooks that came before.
    return 'code' in found ? createElement(found.code.default, props) : createElement(Instead, found)
  }
  return Object.assign(Later, { preload: code.preload })
}

function Complaint({ error }: { error: unknown }): null {
  useEffect(() => complain(error), [error])
  return null
}
