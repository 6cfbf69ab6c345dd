import { type ComponentType, createElement, type ReactNode, useEffect, useState, useSyncExternalStore } from 'react'
import { createCodeLoader, type Load, useLoadAttempts } from './code-loader.ts'
import { showError } from './toasts.tsx'

const idleTasks: (() => unknown)[] = []
const listeners = new Set<() => void>()
let isPageReady = false
let isBusy = false

/** Runs something when the page is ready and the browser is idle. */
export function whenIdle(run: () => unknown): void {
  idleTasks.push(run)
  if (isPageReady) void runIdleTasks()
}

/** Starts tasks that wait for an idle browser. */
export function markPageReady(): void {
  isPageReady = true
  for (const listener of listeners) listener()
  void runIdleTasks()
}

/** Returns whether the page is ready: what renders only then does not delay it. */
export function useIsPageReady(): boolean {
  return useSyncExternalStore(subscribe, () => isPageReady)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

const paintedMs = 500

/** Runs after the next paint. Hidden pages do not paint. */
export function afterPaint(run: () => void): void {
  let isDone = false
  const once = () => {
    if (!isDone) run()
    isDone = true
  }
  setTimeout(once, paintedMs)
  requestAnimationFrame(() => requestAnimationFrame(once))
}

/** Returns whether the component has been painted: what loads only then does not delay it. */
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

// Safari has no `requestIdleCallback`.
const idleMoment = (): Promise<unknown> =>
  new Promise((resolve) =>
    'requestIdleCallback' in window ? window.requestIdleCallback(resolve, { timeout: 2000 }) : setTimeout(resolve, 200),
  )

/** `preload` loads it before it renders. */
type LazyComponent<P> = ComponentType<P> & { preload(): Promise<void> }

/**
 * Returns a component that the first render does not need: its code loads when it first renders. Once loaded it renders
 * at once; React's `lazy` would first show a gap for a third of a second. Failed loads are reported, and render
 * nothing.
 */
export function lazyComponent<P extends object>(load: Load<{ default: ComponentType<P> }>): LazyComponent<P> {
  return createLazyComponent(createCodeLoader(load))
}

/** Same, but loaded in advance when idle. `Fallback` replaces it if the load failed, where there would be a gap. */
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
    // No hook may follow: after suspending, React runs this as an update, which knows only the earlier hooks.
    return 'code' in found ? createElement(found.code.default, props) : createElement(Fallback, found)
  }
  return Object.assign(Lazy, { preload: code.preload })
}

function LoadError({ error }: { error: unknown }): null {
  useEffect(() => showError(error), [error])
  return null
}
