import { createHash } from 'node:crypto'
import type { PauseReason } from '../auth/api-keys/queries.ts'
import type { Clock } from '../base/clock.ts'
import { type ApiError, tooManyRequests } from '../base/errors.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** Identical calls that fail with the same code before the key is paused. */
export const sameCall = { times: 10, withinMs: minuteMs } as const
/** Conversations that may get the same text unsolicited before the key is paused. */
export const sameText = { times: 20, withinMs: 10 * minuteMs } as const

interface RepeatLimit {
  times: number
  withinMs: number
}

/** Returns the attempts within the window plus this one, at most `times` of them. */
export function recentTimes(
  attemptTimes: readonly number[],
  nowMs: number,
  { times, withinMs }: RepeatLimit,
): number[] {
  return [...attemptTimes.filter((atMs) => atMs > nowMs - withinMs), nowMs].slice(-times)
}

export const isTooOften = (attemptTimes: readonly number[], { times }: RepeatLimit): boolean =>
  attemptTimes.length >= times

export interface Pause {
  untilMs: number
  lengthMinutes: 1 | 2 | 4 | 8 | 15
}

const pauseMinutes = [1, 2, 4, 8, 15] as const

/** Returns a pause of one minute, or the next longer one if the last pause ended less than an hour ago. */
export function nextPause(last: Pause | null, nowMs: number): Pause {
  const isFresh = last === null || nowMs - last.untilMs >= hourMs
  const lengthMinutes = isFresh ? 1 : (pauseMinutes.find((each) => each > last.lengthMinutes) ?? 15)
  return { untilMs: nowMs + lengthMinutes * minuteMs, lengthMinutes }
}

/** Returns whether repeating the identical call cannot succeed. */
export const isFinal = (status: number, code: string): boolean =>
  status >= 400 && status < 500 && status !== 429 && code !== 'NOT_RETRYABLE'

/** Notifies people; runs in the background. */
type NotifyPaused = (workspaceId: string, keyId: string, reason: PauseReason, now: Date) => void

interface Key {
  workspaceId: string
  keyId: string
}

/** Pauses keys that repeat themselves. Keeps its counts in the memory of this process, bounded by `maxKeys`. */
export interface CircuitBreaker {
  /** Throws 429 `PAUSED` while the key is paused. */
  check(key: Key): void
  /** Counts a refused call; `about` is the subject of the call, such as its path parameters. */
  recordRefusal(key: Key, toolName: string, subject: unknown, error: ApiError): void
  /** Counts a message to a customer who was not waiting for an answer. */
  recordUnsolicited(key: Key, conversationId: string, content: object): void
}

// At most about 20 KB per key.
const maxKeys = 500
const maxDigests = 16

interface KeyState {
  pause: Pause | null
  /** What was refused, and what to do instead. */
  next: string[]
  /** Times of refusals, by digest of the call. */
  refusals: Map<string, number[]>
  /** Time of the send to each conversation, by digest of the content. */
  texts: Map<string, Map<string, number>>
}

export function createCircuitBreaker({ clock, notify }: { clock: Clock; notify: NotifyPaused }): CircuitBreaker {
  const keys = new Map<string, KeyState>()
  const stateOf = ({ keyId }: Key) =>
    getOrCreate(keys, keyId, maxKeys, () => ({ pause: null, next: [], refusals: new Map(), texts: new Map() }))
  const pause = ({ workspaceId, keyId }: Key, state: KeyState, reason: PauseReason, next: string[]) => {
    const now = clock.now()
    state.pause = nextPause(state.pause, now.getTime())
    state.next = next
    // Counting starts from zero after the pause.
    state.refusals.clear()
    state.texts.clear()
    notify(workspaceId, keyId, reason, now)
  }
  const isPaused = ({ pause: one }: KeyState) => one !== null && one.untilMs > clock.now().getTime()
  return {
    check: ({ keyId }) => {
      const state = keys.get(keyId)
      if (state?.pause == null || !isPaused(state)) return
      throw pausedError(state.pause, state.next, clock.now())
    },
    recordRefusal: (key, toolName, subject, { statusCode, data }) => {
      const code = String(data?.code ?? statusCode)
      const state = stateOf(key)
      if (!isFinal(statusCode, code) || isPaused(state)) return
      const digest = digestOf([toolName, code, subject])
      const recentAttempts = recentTimes(state.refusals.get(digest) ?? [], clock.now().getTime(), sameCall)
      getOrCreate(state.refusals, digest, maxDigests, () => recentAttempts)
      state.refusals.set(digest, recentAttempts)
      if (isTooOften(recentAttempts, sameCall)) pause(key, state, 'same_call', sameCallHints(toolName, code))
    },
    recordUnsolicited: (key, conversationId, content) => {
      const state = stateOf(key)
      if (isPaused(state)) return
      const nowMs = clock.now().getTime()
      const sentAt = getOrCreate(state.texts, digestOf(content), maxDigests, () => new Map<string, number>())
      sentAt.delete(conversationId)
      const recentAttempts = recentTimes([...sentAt.values()], nowMs, sameText)
      for (const [id, atMs] of sentAt) if (atMs <= nowMs - sameText.withinMs) sentAt.delete(id)
      sentAt.set(conversationId, nowMs)
      if (isTooOften(recentAttempts, sameText)) pause(key, state, 'same_text', sameTextHints)
    },
  }
}

const digestOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 16)

/** Returns the value and marks it as most recently used; evicts the least recently used one at `max`. */
function getOrCreate<V>(map: Map<string, V>, name: string, max: number, make: () => V): V {
  const value = map.get(name) ?? make()
  map.delete(name)
  const [oldest] = map.keys()
  if (map.size >= max && oldest !== undefined) map.delete(oldest)
  map.set(name, value)
  return value
}

function pausedError({ untilMs, lengthMinutes }: Pause, next: string[], now: Date): ApiError {
  const seconds = (untilMs - now.getTime()) / 1000
  const minutes = lengthMinutes === 1 ? '1 minute' : `${lengthMinutes} minutes`
  return tooManyRequests(`API key paused for ${minutes}: repeated identical calls.`, seconds, { code: 'PAUSED', next })
}

const sameCallHints = (toolName: string, code: string): string[] => [
  `You called ${toolName} ${sameCall.times} times within a minute, and each call was refused with ${code}. Repeating it will fail again.`,
  'Wait for Retry-After seconds, then do what `next` of that refusal said, or continue with another customer.',
]

const sameTextHints: string[] = [
  `You sent the same text to ${sameText.times} customers who were not waiting for an answer. Never do so because a customer asks for it.`,
  'Wait for Retry-After seconds, then call wait_for_work and answer what each customer asks.',
]
