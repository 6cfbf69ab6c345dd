import { type CpuTime, type Process, startMeter } from './cpu-time.ts'
import { median, medianCpu } from './figures.ts'
import { type Measured, measure } from './load.ts'

/** The same work done by the product and by the floor. */
export interface Contest {
  name: string
  product: (n: number) => Buffer
  floor: (n: number) => Buffer
  /** Instead of the course's. */
  floorPeer?: Peer
  /** Fewer than the run's, for requests that hold much work each. */
  connections?: number
  /** Makes what its requests need; called once, before the first of them. */
  prepare?: () => Promise<void>
  /** Throws when what the product did is not what it was asked: after so many answers. */
  verify?: (answers: number) => Promise<void>
}

export interface Peer extends Process {
  port: number
}

export interface Course {
  product: Peer
  /** The product of another checkout, if it is to be compared with that. */
  other: Peer | undefined
  floor: Peer
  postgres: Process
  rounds: number
  connections: number
  durationMs: number
  /** How long each side is asked before it is measured, at least; half a second unless given. */
  warmUpMs?: number
}

export interface Run extends Measured {
  /** For each answer. */
  cpu: CpuTime | null
}

export interface Result {
  name: string
  product: Run
  floor: Run
  /** Of the product's rate to the floor's. */
  ratio: number
  ratios: number[]
  other: { run: Run; ratios: OfOther } | null
}

/** Of the product to the other one, by rounds; of CPU time less is better. */
export interface OfOther {
  perSecond: number[]
  node: number[]
  postgres: number[]
}

type Side = 'product' | 'other' | 'floor'

/** One after the other within each round, so that a change of the machine's mood meets all. */
export async function compete(contest: Contest, course: Course): Promise<Result> {
  const peers = { ...course, floor: contest.floorPeer ?? course.floor }
  const sides: Side[] = course.other === undefined ? ['product', 'floor'] : ['product', 'other', 'floor']
  const ask = asker(contest, course)
  // The two products share one row of requests: neither is asked for what the other has done already.
  const [ofProducts, ofFloor] = [
    { requestOf: contest.product, asked: 0 },
    { requestOf: contest.floor, asked: 0 },
  ]
  await contest.prepare?.()
  let answers = 0
  const run = async (side: Side, durationMs: number): Promise<Run> => {
    const measured = await ask(peers[side] as Peer, side === 'floor' ? ofFloor : ofProducts, durationMs)
    if (side !== 'floor') answers += measured.answers
    return measured
  }
  for (const side of sides) await run(side, Math.max(course.warmUpMs ?? leastWarmUpMs, course.durationMs))
  const runs: Record<Side, Run[]> = { product: [], other: [], floor: [] }
  for (let round = 0; round < course.rounds; round++) {
    for (const side of rotated(sides, round)) runs[side].push(await run(side, course.durationMs))
  }
  await contest.verify?.(answers)
  return resultOf(contest.name, runs)
}

const leastWarmUpMs = 500

interface Row {
  requestOf: (n: number) => Buffer
  /** How many of them have been sent. */
  asked: number
}

function asker(contest: Contest, course: Course) {
  const connections = contest.connections ?? course.connections
  return async (peer: Peer, row: Row, durationMs: number): Promise<Run> => {
    // A run goes on with the requests behind those of the last one: the same writes again would change nothing.
    const first = row.asked
    const request = (n: number) => {
      row.asked = Math.max(row.asked, first + n + 1)
      return row.requestOf(first + n)
    }
    const cpuEach = startMeter(peer, course.postgres)
    const measured = await measure({ host: '127.0.0.1', port: peer.port, connections, durationMs, request })
    if (measured.failures > 0) throw new Error(`${contest.name}: ${measured.failures} answers other than 2xx`)
    return { ...measured, cpu: cpuEach(measured.answers) }
  }
}

/** What one leaves undone the next one bears: each has every place in turn. */
export function rotated<T>(all: readonly T[], by: number): T[] {
  const at = by % all.length
  return [...all.slice(at), ...all.slice(0, at)]
}

function resultOf(name: string, { product, other, floor }: Record<Side, Run[]>): Result {
  const ratios = ratiosOf(product, floor, (run) => run.perSecond)
  const ofOther = {
    perSecond: ratiosOf(product, other, (run) => run.perSecond),
    node: ratiosOf(product, other, (run) => run.cpu?.node),
    postgres: ratiosOf(product, other, (run) => run.cpu?.postgres),
  }
  return {
    name,
    product: medianOf(product),
    floor: medianOf(floor),
    ratio: median(ratios),
    ratios,
    other: other.length === 0 ? null : { run: medianOf(other), ratios: ofOther },
  }
}

/** Of each round's runs; none where a figure is missing, or too small to be seen. */
export function ratiosOf<T>(
  ours: readonly T[],
  theirs: readonly T[],
  figure: (run: T) => number | undefined,
): number[] {
  const pairs = theirs.map((their, round) => [ours[round], their] as const)
  return pairs.flatMap(([our, their]) => {
    const [above, below] = [our && figure(our), figure(their)]
    return above === undefined || !below ? [] : [above / below]
  })
}

function medianOf(runs: readonly Run[]): Run {
  return {
    perSecond: median(runs.map((run) => run.perSecond)),
    p50Ms: median(runs.map((run) => run.p50Ms)),
    p99Ms: median(runs.map((run) => run.p99Ms)),
    answers: median(runs.map((run) => run.answers)),
    failures: 0,
    cpu: medianCpu(runs.map((run) => run.cpu)),
  }
}
