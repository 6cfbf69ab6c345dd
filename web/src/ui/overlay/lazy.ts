import { type ComponentType, createElement, type ReactNode, useEffect, useState, useSyncExternalStore } from 'react'
import { createCodeLoader, type Load, useLoadAttempts } from './code-loader.ts'
import { showError } from './toasts.tsx'

const idleTasks: (() => unknown)[] = []
const listeners = new Set<() => void>()
let isPageReady = false
let isBusy = false

/** Runs something once the page stands and the browser has nothing else to do. */
export function whenIdle(run: () => unknown): void {
  idleTasks.push(run)
  if (isPageReady) void runIdleTasks()
}

/** From now on what waits for an idle moment gets one. */
export function markPageReady(): void {
  isPageReady = true
  for (const listener of listeners) listener()
  void runIdleTasks()
}

/** Whether the page stands: what is drawn only then keeps nothing of it waiting. */
export function useIsPageReady(): boolean {
  return useSyncExternalStore(subscribe, () => isPageReady)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

const paintedMs = 500

/** What has just come is drawn first. A page that nobody sees draws nothing. */
export function afterPaint(run: () => void): void {
  let isDone = false
  const once = () => {
    if (!isDone) run()
    isDone = true
  }
  setTimeout(once, paintedMs)
  requestAnimationFrame(() => requestAnimationFrame(once))
}

/** Whether the component has been drawn: what is fetched only then keeps nothing of it waiting. */
export function useIsPainted(): boolean {
  const [isPainted, setPainted] = useState(false)
  useEffect(() => {
    let isHere = true
    afterPaint(() => {
      if (isHere) setPainted(true)
    })
    return () => {
      isHere = false
    }
  }, [])
  return isPainted
}

async function runIdleTasks(): Promise<void> {
  if (isBusy) return
  isBusy = true
  for (let run = idleTasks.shift(); run !== undefined; run = idleTasks.shift()) {
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
type LazyComponent<P> = ComponentType<P> & { preload(): Promise<void> }

/**
 * A component that the first look does without: its code comes when it is first drawn. Once there it is drawn at once,
 * which React's own `lazy` does not do: that shows a gap first, and for a third of a second. What cannot be had is
 * complained of, and is not there.
 */
export function lazyComponent<P extends object>(load: Load<{ default: ComponentType<P> }>): LazyComponent<P> {
  return createLazyComponent(createCodeLoader(load))
}

/**
 * The same, fetched in an idle moment before it is wanted. `Instead` stands in its place while it cannot be had, where that would
 * leave a gap.
 */
export function prefetchedComponent<P extends object>(
  load: Load<{ default: ComponentType<P> }>,
  Fallback?: ComponentType<{ error: unknown }>,
): ComponentType<P> {
  const code = createCodeLoader(load)
  whenIdle(code.preload)
  return createLazyComponent(code, Fallback)
}

function createLazyComponent<P extends object>(
  code: ReturnType<typeof createCodeLoader<{ default: ComponentType<P> }>>,
  Fallback: ComponentType<{ error: unknown }> = LoadError,
): LazyComponent<P> {
  function Lazy(props: P): ReactNode {
    useLoadAttempts()
    const found = code.read()
    // No hook may follow: what was suspended is drawn on as an update, which knows only the hooks that came before.
    return 'code' in found ? createElement(found.code.default, props) : createElement(Fallback, found)
  }
  return Object.assign(Lazy, { preload: code.preload })
}

function LoadError({ error }: { error: unknown }): null {
  useEffect(() => showError(error), [error])
  return null
}
