import { useEffect, useRef, useState, useSyncExternalStore } from 'react'

/** `lost` from the moment that the stream broke until it is back. */
export type LiveState = 'connecting' | 'open' | 'lost'

/** A frame of the stream: an event of the contract, or one of the app's own (`team.…`). */
export interface LiveEvent {
  id: string
  event: string
  occurred_at: string
  payload: Record<string, unknown>
}

type Hearer = (event: LiveEvent) => void

const retryMs = [500, 1000, 2000, 4000, 8000]
// The service sends something every 15 seconds; a stream that says nothing for longer is dead without knowing it.
const silenceMs = 40_000

let state: LiveState = 'connecting'
let stop: (() => void) | null = null
const watchers = new Set<() => void>()
const hearers = new Map<string, Set<Hearer>>()
const resetHearers = new Set<() => void>()
let listened: ((name: string) => void) | null = null

/** Follows a workspace's stream until another one is followed. After a break it goes on where it stopped. */
export function followWorkspace(workspaceId: string): () => void {
  stop?.()
  let source: EventSource | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  let silence: ReturnType<typeof setTimeout> | undefined
  let attempt = 0
  let place = ''

  const heard = (id: string) => {
    if (id !== '') place = id
    attempt = 0
    setState('open')
    clearTimeout(silence)
    silence = setTimeout(again, silenceMs)
  }
  const open = () => {
    const after = place === '' ? '' : `?after=${encodeURIComponent(place)}`
    source = new EventSource(`/api/team/v1/workspaces/${workspaceId}/live${after}`)
    const names = new Set<string>()
    const listen = (name: string) => {
      if (names.has(name)) return
      names.add(name)
      source?.addEventListener(name, (message) => {
        heard(message.lastEventId)
        const event = eventOf(name, JSON.parse(message.data))
        for (const hear of hearers.get(name) ?? []) hear(event)
      })
    }
    listened = listen
    for (const name of hearers.keys()) listen(name)
    source.onopen = () => heard('')
    source.onmessage = (message) => heard(message.lastEventId)
    source.addEventListener('reset', (message) => {
      heard(message.lastEventId)
      for (const reset of resetHearers) reset()
    })
    source.onerror = again
  }
  function again() {
    clearTimeout(silence)
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
    clearTimeout(silence)
    source?.close()
    listened = null
    stop = null
  }
  return stop
}

// What is sent to the app alone (`team.…`) comes bare: it is in no feed.
function eventOf(name: string, data: unknown): LiveEvent {
  if (!name.startsWith('team.')) return data as LiveEvent
  return { id: '', event: name, occurred_at: new Date().toISOString(), payload: data as LiveEvent['payload'] }
}

/** Calls `hear` for each event of these names while the component is there. Keep `names` and `hear` stable. */
export function useLive(names: readonly string[], hear: Hearer): void {
  useEffect(() => {
    for (const name of names) {
      const some = hearers.get(name) ?? new Set()
      some.add(hear)
      hearers.set(name, some)
      listened?.(name)
    }
    return () => {
      for (const name of names) hearers.get(name)?.delete(hear)
    }
  }, [names, hear])
}

/** Calls `reset` when the stream could not be resumed: whatever is shown may be out of date. */
export function useLiveReset(reset: () => void): void {
  useEffect(() => {
    resetHearers.add(reset)
    return () => {
      resetHearers.delete(reset)
    }
  }, [reset])
}

export function useLiveState(): LiveState {
  return useSyncExternalStore(
    (changed) => {
      watchers.add(changed)
      return () => watchers.delete(changed)
    },
    () => state,
  )
}

/** Calls `look` whenever the stream opens while the component is there: nobody is told of what happened before. */
export function useOnOpen(look: () => void): void {
  const latest = useRef(look)
  latest.current = look
  const isOpen = useLiveState() === 'open'
  const wasOpen = useRef(isOpen)
  useEffect(() => {
    if (isOpen && !wasOpen.current) latest.current()
    wasOpen.current = isOpen
  }, [isOpen])
}

// Some networks hold a stream back until it ends.
const patienceMs = 3000

/** Whether what is read from now on misses no change, as the stream is open. Where it opens late one does not wait for it. */
export function useIsFollowed(): boolean {
  const isConnecting = useLiveState() === 'connecting'
  const [isPatient, setPatient] = useState(true)
  useEffect(() => {
    const timer = setTimeout(() => setPatient(false), patienceMs)
    return () => clearTimeout(timer)
  }, [])
  return !isConnecting || !isPatient
}

/** Calls `back` whenever the service seems to be within reach again. */
export function useBackOnline(back: () => void): void {
  const latest = useRef(back)
  latest.current = back
  useEffect(() => {
    let before = state
    const changed = () => {
      if (before === 'lost' && state === 'open') latest.current()
      before = state
    }
    const online = () => latest.current()
    watchers.add(changed)
    window.addEventListener('online', online)
    return () => {
      watchers.delete(changed)
      window.removeEventListener('online', online)
    }
  }, [])
}

function setState(next: LiveState): void {
  if (state === next) return
  state = next
  for (const changed of watchers) changed()
}
