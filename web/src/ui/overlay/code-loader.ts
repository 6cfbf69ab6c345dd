import { type ComponentType, createElement, type ReactNode, use, useSyncExternalStore } from 'react'
import { networkError } from '../../api/api-error.ts'

export type Load<T> = () => Promise<T>

/** A lazily loaded part of the app's code. */
interface CodeLoader<T> {
  /** Loads it in advance. Errors are ignored. */
  preload(): Promise<void>
  /** Call during render: returns the code or the error, or suspends until loaded. */
  read(): { code: T } | { error: unknown }
}

const failedLoads = new Set<() => void>()
const listeners = new Set<() => void>()
let attempts = 0

/** Retries failed loads. */
export function retryFailedLoads(): void {
  for (const forget of failedLoads) forget()
  failedLoads.clear()
  attempts++
  for (const listener of listeners) listener()
}

/** Renders a component again when loads are retried. */
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

/** Returns a page for the router, preloaded when navigation seems likely. */
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

/** Distinguishes an unreachable server from one with a newer version of the code, which requires a reload. */
async function loadErrorOf(error: unknown): Promise<unknown> {
  const message = error instanceof Error ? error.message : ''
  if (!/import|module|preload/i.test(message)) return error
  const isReachable = await fetch('/healthz', { cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  )
  if (!isReachable) return networkError()
  if (sessionStorage.getItem(reloadedForKey) === message) return error
  sessionStorage.setItem(reloadedForKey, message)
  window.location.reload()
  return new Promise(() => {})
}
