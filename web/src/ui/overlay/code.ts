import { type ComponentType, createElement, type ReactNode, use, useSyncExternalStore } from 'react'
import { unreachable } from '../../api/failure.ts'

export type Load<T> = () => Promise<T>

/** A part of the app's code, which is fetched when it is wanted, or before. */
interface Code<T> {
  /** Fetches it for later. What fails is forgotten. */
  preload(): Promise<void>
  /** To be called while something is drawn: at once when it is there, else it suspends until it is, or why it cannot be. */
  read(): { code: T } | { error: unknown }
}

const failed = new Set<() => void>()
const watchers = new Set<() => void>()
let tries = 0

/** Lets code be fetched again that could not be had. */
export function tryCodeAgain(): void {
  for (const forget of failed) forget()
  failed.clear()
  tries++
  for (const changed of watchers) changed()
}

/** Draws a component anew when code is tried again. */
export function useCodeTries(): number {
  return useSyncExternalStore(watch, () => tries)
}

function watch(changed: () => void): () => void {
  watchers.add(changed)
  return () => watchers.delete(changed)
}

export function codeOf<T>(get: Load<T>): Code<T> {
  let ready: { code: T } | undefined
  let loading: Promise<void> | undefined
  let wanted: Promise<void> | undefined
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
  const want = async () => {
    try {
      await load()
    } catch (error) {
      failure = { error: await reasonOf(error) }
      failed.add(() => {
        failure = undefined
        wanted = undefined
      })
    }
  }
  return {
    preload: () => load().catch(() => {}),
    read: () => {
      if (ready === undefined && failure === undefined) {
        wanted ??= want()
        use(wanted)
      }
      return ready ?? failure ?? { error: undefined }
    },
  }
}

/** A page of the app, for the router: it may be fetched as soon as somebody seems to be going there. */
export function pageOf<K extends string>(get: Load<Record<K, ComponentType>>, name: K) {
  const code = codeOf(get)
  const Page = (): ReactNode => {
    const found = code.read()
    if ('error' in found) throw found.error
    return createElement(found.code[name])
  }
  return Object.assign(Page, { preload: code.preload })
}

const reloadedFor = 'parley.reloaded'

/** Nobody there is one thing; a service that is there and has other code by now is another, and needs the new page. */
async function reasonOf(error: unknown): Promise<unknown> {
  const message = error instanceof Error ? error.message : ''
  if (!/import|module|preload/i.test(message)) return error
  const isThere = await fetch('/healthz', { cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  )
  if (!isThere) return unreachable()
  if (sessionStorage.getItem(reloadedFor) === message) return error
  sessionStorage.setItem(reloadedFor, message)
  window.location.reload()
  return new Promise(() => {})
}
