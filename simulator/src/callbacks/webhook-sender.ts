import type { Clock } from '../../../server/src/base/clock.ts'
import type { Log } from '../../../server/src/base/log.ts'
import type { BusinessNumber } from '../world.ts'
import {
  type CallbackChange,
  type DeliverySettings,
  defaultDelivery,
  packDeliveries,
  post,
  type QueuedChange,
  type WebhookPayload,
} from './webhook-payload.ts'

interface SenderDeps {
  clock: Clock
  log: Log
  scheduler: Scheduler
  journal: Journal
  retryMs: readonly number[]
}

const maxCollectMs = 1_000
const maxPending = 10_000

/** Delivers changes to the callbacks: signed, at least once, in order unless the settings say otherwise. */
export class WebhookSender {
  readonly settings: DeliverySettings = { ...defaultDelivery }
  readonly counts = { delivered: 0, retried: 0, lost: 0 }
  readonly #parts: SenderDeps
  readonly #stopping = new AbortController()
  readonly #lanes = createLanes()
  #held: QueuedChange[] = []
  #dropTimer = () => {}
  #onTheWay = 0

  constructor(parts: SenderDeps) {
    this.#parts = parts
  }

  send(number: BusinessNumber, change: CallbackChange): void {
    const { settings } = this
    const isAccepted = number.callbackUrl !== null && number.subscribed && this.pending() < maxPending
    if (!isAccepted || settings.drop > 0) {
      if (isAccepted) settings.drop -= 1
      this.counts.lost += 1
      return
    }
    this.#held.push([number, change])
    if (settings.paused) return
    if (this.#held.length >= Math.max(settings.batch, settings.reorder)) this.flush()
    else if (this.#held.length === 1)
      this.#dropTimer = this.#parts.scheduler.after(maxCollectMs, () => settings.paused || this.flush())
  }

  /** Sends the collected changes. */
  flush(): void {
    this.#dropTimer()
    const { settings } = this
    const items = settings.reorder > 1 ? this.#held.reverse() : this.#held
    this.#held = []
    for (const payload of packDeliveries(items, settings, this.#parts.clock)) {
      for (let copy = 0; copy <= settings.duplicates; copy += 1) this.#dispatch(payload, settings.delayMs)
    }
  }

  /** Returns the number of collected changes and unfinished deliveries. */
  pending(): number {
    return this.#held.length + this.#onTheWay
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#lanes.settled()
  }

  #dispatch(payload: WebhookPayload, delayMs: number): void {
    this.#onTheWay += 1
    const startAttempt = () => this.#lanes.add(payload.lane, () => this.#attempt(payload, 1))
    if (delayMs > 0) this.#parts.scheduler.after(delayMs, startAttempt)
    else startAttempt()
  }

  async #attempt(payload: WebhookPayload, attempt: number): Promise<void> {
    if (this.#stopping.signal.aborted) return
    const { scheduler, clock, journal, log, retryMs } = this.#parts
    const outcome = await post(payload, this.#stopping.signal)
    const { numberId } = payload.number
    journal.add({ kind: 'webhook', at: clock.now(), numberId, attempt, outcome, body: payload.body.toString() })
    const waitMs = retryMs[attempt - 1]
    if (outcome !== '200' && waitMs !== undefined) {
      this.counts.retried += 1
      scheduler.after(waitMs, () => void this.#attempt(payload, attempt + 1))
      return
    }
    this.#onTheWay -= 1
    if (outcome === '200') {
      this.counts.delivered += 1
      for (const change of payload.changes) change.onDelivered?.()
      return
    }
    this.counts.lost += 1
    log.warn('simulated webhook given up', { attempt, code: outcome })
  }
}

function createLanes() {
  const last = new Map<string, Promise<void>>()
  return {
    add: (lane: string, work: () => Promise<void>): void => {
      const mine = (last.get(lane) ?? Promise.resolve()).then(work).then(() => {
        if (last.get(lane) === mine) last.delete(lane)
      })
      last.set(lane, mine)
    },
    settled: async (): Promise<void> => {
      await Promise.all(last.values())
    },
  }
}

/** Calls and webhooks between the service and the platform, newest last. */
type JournalEntry =
  | { kind: 'call'; at: Date; method: string; path: string; body: unknown }
  | { kind: 'webhook'; at: Date; numberId: string; attempt: number; outcome: string; body: string | null }

export type Journal = ReturnType<typeof createJournal>

const maxEntries = 300
const maxBodyChars = 20_000

export function createJournal() {
  const entries: JournalEntry[] = []
  return {
    add: (entry: JournalEntry): void => {
      const isLong =
        (typeof entry.body === 'string' ? entry.body : JSON.stringify(entry.body ?? null)).length > maxBodyChars
      entries.push(isLong ? { ...entry, body: null } : entry)
      if (entries.length > maxEntries) entries.shift()
    },
    list: (): JournalEntry[] => [...entries],
    clear: (): void => {
      entries.length = 0
    },
  }
}

export type Scheduler = ReturnType<typeof createScheduler>

interface Task {
  dueMs: number
  work: () => void
}

const maxTasks = 20_000
const longestWaitMs = 60_000
const shortestWaitMs = 5

/** Runs tasks at a time of the simulated clock. */
export function createScheduler(clock: Clock, onError: (error: unknown) => void) {
  const tasks: Task[] = []
  let timer: NodeJS.Timeout | undefined
  let stopped = false

  function arm(): void {
    clearTimeout(timer)
    const next = tasks[0]
    if (next === undefined || stopped) return
    const waitMs = next.dueMs - clock.now().getTime()
    timer = setTimeout(runDue, waitMs <= 0 ? 0 : Math.min(Math.max(waitMs, shortestWaitMs), longestWaitMs))
  }

  function runNext(): void {
    try {
      tasks.shift()?.work()
    } catch (error) {
      onError(error)
    }
  }

  function runDue(): void {
    const nowMs = clock.now().getTime()
    for (let next = tasks[0]; next !== undefined && next.dueMs <= nowMs && !stopped; next = tasks[0]) runNext()
    arm()
  }

  return {
    /** Schedules work and returns a function that cancels it. Never throws: failures go to `onError`. */
    after: (delayMs: number, work: () => void): (() => void) => {
      if (stopped) return () => {}
      // Runs a task early instead of using unbounded memory.
      if (tasks.length >= maxTasks) runNext()
      const task = { dueMs: clock.now().getTime() + delayMs, work }
      const later = tasks.findLastIndex(({ dueMs }) => dueMs <= task.dueMs)
      tasks.splice(later + 1, 0, task)
      if (tasks[0] === task) arm()
      return () => {
        const at = tasks.indexOf(task)
        if (at < 0) return
        tasks.splice(at, 1)
        if (at === 0) arm()
      }
    },
    /** Must be called after the clock jumps: runs due tasks; a jump back keeps each task's remaining wait. */
    onClockChange: (byMs: number): void => {
      if (byMs < 0) for (const task of tasks) task.dueMs += byMs
      arm()
    },
    size: (): number => tasks.length,
    stop: (): void => {
      stopped = true
      clearTimeout(timer)
      tasks.length = 0
    },
  }
}
