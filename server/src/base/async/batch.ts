import type { Waits } from '../shares/waits.ts'
import { awaitedBy, currentWork, tracedTogether } from '../shares/work.ts'
import type { Span } from '../tracing/span.ts'
import { isOutOfPatience, mayTryAgain } from './patience.ts'

export interface Batching<I, O> {
  /** How many groups of one key are under way at most: one that is held up must not hold up all the others. */
  groups: number
  /** How many items one group holds at most. */
  groupSize: number
  /** Does all of a group or nothing, and returns what came of each item, in their order. */
  work(key: string, items: readonly I[]): Promise<readonly O[]>
  /** Whether a failure left nothing behind, so that the items may be tried again. */
  isUndone(error: unknown): boolean
}

interface Queued<I, O> {
  item: I
  sinceMs: number
  span: Span | null
  /** Of whoever waits for it. */
  waits: Waits | null
  resolve(answer: O): void
  reject(error: unknown): void
}

interface Line<I, O> {
  running: number
  waiting: Queued<I, O>[]
}

/**
 * Lets items of one key go together when they come faster than they are done: who finds nobody under way goes at once,
 * who comes meanwhile waits and goes with the others. A group that fails is halved and tried again, so that nobody
 * fails because of a neighbour; but nobody waits for long where it is the database that is away.
 */
export function batch<I, O>({ groups, groupSize, work, isUndone }: Batching<I, O>) {
  const lines = new Map<string, Line<I, O>>()

  async function run(key: string, line: Line<I, O>): Promise<void> {
    line.running++
    while (line.waiting.length > 0) await serve(key, line, line.waiting.splice(0, groupSize))
    line.running--
    if (line.running === 0) lines.delete(key)
  }

  async function serve(key: string, line: Line<I, O>, group: readonly Queued<I, O>[]): Promise<void> {
    const begunAtMs = performance.now()
    try {
      const items = group.map(({ item }) => item)
      const spans = group.map(({ span }) => span)
      const answers = await awaitedBy(waitsOf(group), () => tracedTogether(spans, () => work(key, items)))
      for (const [n, { resolve }] of group.entries()) resolve(answers[n] as O)
    } catch (error) {
      if (group.length > 1 && isUndone(error) && mayTryAgain(error, begunAtMs)) {
        const half = Math.ceil(group.length / 2)
        await Promise.all([serve(key, line, group.slice(0, half)), serve(key, line, group.slice(half))])
        return
      }
      for (const { reject } of group) reject(error)
      // In the order in which they came.
      while (line.waiting[0] !== undefined && isOutOfPatience(error, line.waiting[0].sinceMs)) {
        line.waiting.shift()?.reject(error)
      }
    }
  }

  const add = (key: string, item: I, waits: Waits | null): Promise<O> =>
    new Promise((resolve, reject) => {
      const line = lines.get(key) ?? { running: 0, waiting: [] }
      lines.set(key, line)
      line.waiting.push({ item, sinceMs: performance.now(), span: currentWork().span, waits, resolve, reject })
      if (line.running < groups) void run(key, line)
    })
  return (key: string, item: I): Promise<O> => {
    const { waits } = currentWork()
    return waits === null ? add(key, item, null) : waits.during(add(key, item, waits))
  }
}

/** What a group asks is asked for all of it: for whoever has waited for longest. */
function waitsOf(group: readonly { waits: Waits | null }[]): Waits | null {
  const nowMs = performance.now()
  let longest: Waits | null = null
  for (const { waits } of group) {
    if (waits !== null && waits.ms(nowMs) >= (longest?.ms(nowMs) ?? 0)) longest = waits
  }
  return longest
}
