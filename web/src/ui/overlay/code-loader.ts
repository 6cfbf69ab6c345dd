import { type ComponentType, createElement, type ReactNode, use, useSyncExternalStore } from 'react'
import { networkError } from '../../api/api-error.ts'

export type Load<T> = () => Promise<T>

/** A part of the app's code, which is fetched when it is wanted, or before. */
interface CodeLoader<T> {
  /** Fetches it for later. What fails is forgotten. */
  preload(): Promise<void>
  /** To be called while something is drawn: at once when it is there, else it suspends until it is, or why it cannot be. */
  read(): { code: T } | { error: unknown }
}

const failedLoads = new Set<() => void>()
const listeners = new Set<() => void>()
let attempts = 0

/** Lets code be fetched again that could not be had. */
export function retryFailedLoads(): void {
  for (const forget of failedLoads) forget()
  failedLoads.clear()
  attempts++
  for (const listener of listeners) listener()
}

/** Draws a component anew when code is tried again. */
export function useLoadAttempts(): number {
  return useSyncExternalStore(subscribe, () => attempts)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function createCodeLoader<T>(get: Load<T>): CodeLoader<T> {
  let ready: { code: T } | undefined
  let loading: Promise<void> | undefined
  let pending: Promise<void> | undefined
  let failure: { error: unknown } | undefined
  const load = () => {
    loading ??= get()
      .then((code) => {
        ready = { code }
      })
      .finally(() => {
        loading = undefined
      })
    return loading
  }
  const loadOnce = async () => {
    try {
      await load()
    } catch (error) {
      failure = { error: await loadErrorOf(error) }
      failedLoads.add(() => {
        failure = undefined
        pending = undefined
      })
    }
  }
  return {
    preload: () => load().catch(() => {}),
    read: () => {
      if (ready === undefined && failure === undefined) {
        pending ??= loadOnce()
        use(pending)
      }
      return ready ?? failure ?? { error: undefined }
    },
  }
}

/** A page of the app, for the router: it may be fetched as soon as somebody seems to be going there. */
export function lazyPage<K extends string>(get: Load<Record<K, ComponentType>>, name: K) {
  const code = createCodeLoader(get)
  const Page = (): ReactNode => {
    const found = code.read()
    if ('error' in found) throw found.error
    return createElement(found.code[name])
  }
  return Object.assign(Page, { preload: code.preload })
}

const reloadedForKey = 'parley.reloaded'

/** Nobody there is one thing; a service that is there and has other code by now is another, and needs the new page. */
async function loadErrorOf(error: unknown): Promise<unknown> {
  const message = error instanceof Error ? error.message : ''
  if (!/import|module|preload/i.test(message)) return error
  const isThere = await fetch('/healthz', { cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  )
  if (!isThere) return networkError()
  if (sessionStorage.getItem(reloadedForKey) === message) return error
  sessionStorage.setItem(reloadedForKey, message)
  window.location.reload()
  return new Promise(() => {})
}
