import { type ComponentType, createElement, type ReactNode, use } from 'react'

type Load<P> = () => Promise<{ default: ComponentType<P> }>

const waiting: (() => unknown)[] = []
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
  void work()
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

/**
 * A component that the first look does without: its code comes in an idle moment, or when it is first drawn. Once there
 * it is drawn at once, which React's own `lazy` does not do: that shows a gap first, and for a third of a second.
 */
export function later<P extends object>(load: Load<P>): ComponentType<P> {
  let ready: ComponentType<P> | undefined
  let loading: Promise<void> | undefined
  const begin = () => {
    loading ??= load().then((module) => {
      ready = module.default
    })
    return loading
  }
  whenIdle(() =>
    // Whoever needs it asks again.
    begin().catch(() => {
      loading = undefined
    }),
  )
  return function Later(props: P): ReactNode {
    if (ready === undefined) use(begin())
    return ready && createElement(ready, props)
  }
}
