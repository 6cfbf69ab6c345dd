import type { Clock } from '../../../server/src/base/clock.ts'
import type { Log } from '../../../server/src/base/log.ts'
import type { BusinessNumber } from '../world.ts'
import {
  type CallbackChange,
  calmDelivery,
  type DeliveryKnobs,
  type Held,
  type Parcel,
  packed,
  post,
} from './webhook-payload.ts'

interface Parts {
  clock: Clock
  log: Log
  agenda: Agenda
  journal: Journal
  retryMs: readonly number[]
}

const heldForMs = 1_000
const maxPending = 10_000

/** Delivers changes to the callbacks: signed, at least once, in order unless the settings say otherwise. */
export class Courier {
  readonly knobs: DeliveryKnobs = { ...calmDelivery }
  readonly counts = { delivered: 0, retried: 0, lost: 0 }
  readonly #parts: Parts
  readonly #stopping = new AbortController()
  readonly #lanes = createLanes()
  #held: Held[] = []
  #dropTimer = () => {}
  #onTheWay = 0

  constructor(parts: Parts) {
    this.#parts = parts
  }

  send(number: BusinessNumber, change: CallbackChange): void {
    const { knobs } = this
    const isWanted = number.callbackUrl !== null && number.subscribed && this.pending() < maxPending
    if (!isWanted || knobs.drop > 0) {
      if (isWanted) knobs.drop -= 1
      this.counts.lost += 1
      return
    }
    this.#held.push([number, change])
    if (knobs.paused) return
    if (this.#held.length >= Math.max(knobs.batch, knobs.reorder)) this.flush()
    else if (this.#held.length === 1)
      this.#dropTimer = this.#parts.agenda.after(heldForMs, () => knobs.paused || this.flush())
  }

  /** Sends the collected changes. */
  flush(): void {
    this.#dropTimer()
    const { knobs } = this
    const items = knobs.reorder > 1 ? this.#held.reverse() : this.#held
    this.#held = []
    for (const parcel of packed(items, knobs, this.#parts.clock)) {
      for (let copy = 0; copy <= knobs.duplicates; copy += 1) this.#dispatch(parcel, knobs.delayMs)
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

  #dispatch(parcel: Parcel, delayMs: number): void {
    this.#onTheWay += 1
    const go = () => this.#lanes.add(parcel.lane, () => this.#attempt(parcel, 1))
    if (delayMs > 0) this.#parts.agenda.after(delayMs, go)
    else go()
  }

  async #attempt(parcel: Parcel, attempt: number): Promise<void> {
    if (this.#stopping.signal.aborted) return
    const { agenda, clock, journal, log, retryMs } = this.#parts
    const outcome = await post(parcel, this.#stopping.signal)
    const { numberId } = parcel.number
    journal.add({ kind: 'webhook', at: clock.now(), numberId, attempt, outcome, body: parcel.body.toString() })
    const waitMs = retryMs[attempt - 1]
    if (outcome !== '200' && waitMs !== undefined) {
      this.counts.retried += 1
      agenda.after(waitMs, () => void this.#attempt(parcel, attempt + 1))
      return
    }
    this.#onTheWay -= 1
    if (outcome === '200') {
      this.counts.delivered += 1
      for (const change of parcel.changes) change.onTaken?.()
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

export type Agenda = ReturnType<typeof createAgenda>

interface Task {
  dueMs: number
  work: () => void
}

const maxTasks = 20_000
const longestWaitMs = 60_000
const shortestWaitMs = 5

/** Runs tasks at a time of the simulated clock. */
export function createAgenda(clock: Clock, onError: (error: unknown) => void) {
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
    clockMoved: (byMs: number): void => {
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
