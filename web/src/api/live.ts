import { useEffect, useRef, useState, useSyncExternalStore } from 'react'

/** `lost` from the moment the stream breaks until it is open again. */
export type LiveState = 'connecting' | 'open' | 'lost'

/** Message of the stream: an event of the contract, or an event of the app alone (`team.…`). */
export interface LiveEvent {
  id: string
  event: string
  occurred_at: string
  payload: Record<string, unknown>
}

type LiveListener = (event: LiveEvent) => void

const retryMs = [500, 1000, 2000, 4000, 8000]
// The server sends something every 15 seconds. A stream that is silent for longer is treated as broken.
const silenceMs = 40_000

let state: LiveState = 'connecting'
let stop: (() => void) | null = null
const stateListeners = new Set<() => void>()
const eventListeners = new Map<string, Set<LiveListener>>()
const resetListeners = new Set<() => void>()
let listenFor: ((name: string) => void) | null = null

/** Opens the stream of a workspace and closes that of the previous one. After a break it resumes where it stopped. */
export function followWorkspace(workspaceId: string): () => void {
  stop?.()
  let source: EventSource | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  let silenceTimer: ReturnType<typeof setTimeout> | undefined
  let attempt = 0
  let lastEventId = ''

  const onMessage = (id: string) => {
    if (id !== '') lastEventId = id
    attempt = 0
    setState('open')
    clearTimeout(silenceTimer)
    silenceTimer = setTimeout(again, silenceMs)
  }
  const open = () => {
    const after = lastEventId === '' ? '' : `?after=${encodeURIComponent(lastEventId)}`
    source = new EventSource(`/api/team/v1/workspaces/${workspaceId}/live${after}`)
    const names = new Set<string>()
    const listen = (name: string) => {
      if (names.has(name)) return
      names.add(name)
      source?.addEventListener(name, (message) => {
        onMessage(message.lastEventId)
        const event = eventOf(name, JSON.parse(message.data))
        for (const listener of eventListeners.get(name) ?? []) listener(event)
      })
    }
    listenFor = listen
    for (const name of eventListeners.keys()) listen(name)
    source.onopen = () => onMessage('')
    source.onmessage = (message) => onMessage(message.lastEventId)
    source.addEventListener('reset', (message) => {
      onMessage(message.lastEventId)
      for (const reset of resetListeners) reset()
    })
    source.onerror = again
  }
  function again() {
    clearTimeout(silenceTimer)
    clearTimeout(timer)
    source?.close()
    if (state === 'open' || attempt > 0) setState('lost')
    timer = setTimeout(open, (retryMs[Math.min(attempt++, retryMs.length - 1)] ?? 8000) * (0.75 + Math.random() / 2))
  }
  const wake = () => {
    if (state !== 'lost') return
    clearTimeout(timer)
    attempt = 0
    source?.close()
    open()
  }
  setState('connecting')
  open()
  window.addEventListener('online', wake)
  stop = () => {
    window.removeEventListener('online', wake)
    clearTimeout(timer)
    clearTimeout(silenceTimer)
    source?.close()
    listenFor = null
    stop = null
  }
  return stop
}

// Events of the app alone (`team.…`) have no envelope: they are in no event feed.
function eventOf(name: string, data: unknown): LiveEvent {
  if (!name.startsWith('team.')) return data as LiveEvent
  return { id: '', event: name, occurred_at: new Date().toISOString(), payload: data as LiveEvent['payload'] }
}

/** Calls `listener` for each event with one of these names while mounted. Both arguments must be stable. */
export function useLive(names: readonly string[], listener: LiveListener): void {
  useEffect(() => {
    for (const name of names) {
      const some = eventListeners.get(name) ?? new Set()
      some.add(listener)
      eventListeners.set(name, some)
      listenFor?.(name)
    }
    return () => {
      for (const name of names) eventListeners.get(name)?.delete(listener)
    }
  }, [names, listener])
}

/** Calls `reset` when the stream could not resume: anything shown may be out of date. */
export function useLiveReset(reset: () => void): void {
  useEffect(() => {
    resetListeners.add(reset)
    return () => {
      resetListeners.delete(reset)
    }
  }, [reset])
}

export function useLiveState(): LiveState {
  return useSyncExternalStore(
    (changed) => {
      stateListeners.add(changed)
      return () => stateListeners.delete(changed)
    },
    () => state,
  )
}

/** Calls `onOpen` whenever the stream opens while the component is mounted: earlier changes were not announced. */
export function useOnStreamOpen(onOpen: () => void): void {
  const latest = useRef(onOpen)
  latest.current = onOpen
  const isOpen = useLiveState() === 'open'
  const wasOpen = useRef(isOpen)
  useEffect(() => {
    if (isOpen && !wasOpen.current) latest.current()
    wasOpen.current = isOpen
  }, [isOpen])
}

// Some networks buffer a stream until it ends.
const maxWaitMs = 3000

/** Returns whether loaded data misses no change: the stream is open, or took longer than 3 seconds to open. */
export function useIsLiveReady(): boolean {
  const isConnecting = useLiveState() === 'connecting'
  const [isWithinWait, setWithinWait] = useState(true)
  useEffect(() => {
    const timer = setTimeout(() => setWithinWait(false), maxWaitMs)
    return () => clearTimeout(timer)
  }, [])
  return !isConnecting || !isWithinWait
}

/** Calls `back` whenever the server may be reachable again. */
export function useOnReconnect(back: () => void): void {
  const latest = useRef(back)
  latest.current = back
  useEffect(() => {
    let before = state
    const changed = () => {
      if (before === 'lost' && state === 'open') latest.current()
      before = state
    }
    const online = () => latest.current()
    stateListeners.add(changed)
    window.addEventListener('online', online)
    return () => {
      stateListeners.delete(changed)
      window.removeEventListener('online', online)
    }
  }, [])
}

function setState(next: LiveState): void {
  if (state === next) return
  state = next
  for (const changed of stateListeners) changed()
}
