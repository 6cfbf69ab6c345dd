import type { Clock } from '../../../server/src/base/clock.ts'
import type { Log } from '../../../server/src/base/log.ts'
import type { Agenda } from '../agenda.ts'
import type { BusinessNumber } from '../world.ts'
import type { Journal } from './journal.ts'
import {
  type CallbackChange,
  calmDelivery,
  type DeliveryKnobs,
  type Held,
  type Parcel,
  packed,
  post,
} from './parcel.ts'

interface Parts {
  clock: Clock
  log: Log
  agenda: Agenda
  journal: Journal
  retryMs: readonly number[]
}

const heldForMs = 1_000
const maxPending = 10_000

/** Brings changes to the callbacks: signed, at least once, in order unless a knob says otherwise. */
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

  /** Lets go what is held. */
  flush(): void {
    this.#dropTimer()
    const { knobs } = this
    const items = knobs.reorder > 1 ? this.#held.reverse() : this.#held
    this.#held = []
    for (const parcel of packed(items, knobs, this.#parts.clock)) {
      for (let copy = 0; copy <= knobs.duplicates; copy += 1) this.#dispatch(parcel, knobs.delayMs)
    }
  }

  /** Changes that are held and deliveries that are on their way. */
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

interface Lanes {
  add(lane: string, work: () => Promise<void>): void
  settled(): Promise<void>
}

function createLanes(): Lanes {
  const last = new Map<string, Promise<void>>()
  return {
    add: (lane, work) => {
      const mine = (last.get(lane) ?? Promise.resolve()).then(work).then(() => {
        if (last.get(lane) === mine) last.delete(lane)
      })
      last.set(lane, mine)
    },
    settled: async () => {
      await Promise.all(last.values())
    },
  }
}
