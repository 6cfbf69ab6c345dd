import { type CpuTime, type Process, startMeter } from './cpu-time.ts'
import { median, medianCpu } from './figures.ts'
import { type Measured, measure } from './load.ts'

/** The same work for the product and the baseline. */
export interface Comparison {
  name: string
  product: (n: number) => Buffer
  baseline: (n: number) => Buffer
  /** Overrides the baseline of the course. */
  baselinePeer?: Peer
  /** Fewer connections than the run's, for expensive requests. */
  connections?: number
  /** Prepares its requests; called once, before the first of them. */
  prepare?: () => Promise<void>
  /** Throws if the product's results are wrong; called with the number of its answers. */
  verify?: (answers: number) => Promise<void>
}

export interface Peer extends Process {
  port: number
}

export interface Course {
  product: Peer
  /** Product of another checkout to compare with. */
  other: Peer | undefined
  baseline: Peer
  postgres: Process
  rounds: number
  connections: number
  durationMs: number
  /** Minimum duration of the warm-up of each side; half a second by default. */
  warmUpMs?: number
}

export interface Run extends Measured {
  /** Per answer. */
  cpu: CpuTime | null
}

export interface Result {
  name: string
  product: Run
  baseline: Run
  /** The product's rate divided by the baseline's. */
  ratio: number
  ratios: number[]
  other: { run: Run; ratios: OtherRatios } | null
}

/** The product divided by the other one, per round; for CPU time, lower is better. */
export interface OtherRatios {
  perSecond: number[]
  node: number[]
  postgres: number[]
}

type Side = 'product' | 'other' | 'baseline'

/** Alternates between the sides within each round, so that changes of the machine's speed affect all of them. */
export async function compare(comparison: Comparison, course: Course): Promise<Result> {
  const peers = { ...course, baseline: comparison.baselinePeer ?? course.baseline }
  const sides: Side[] = course.other === undefined ? ['product', 'baseline'] : ['product', 'other', 'baseline']
  const ask = createRunner(comparison, course)
  // The two products share one sequence of requests: neither repeats a request of the other.
  const [ofProducts, ofBaseline] = [
    { requestOf: comparison.product, sent: 0 },
    { requestOf: comparison.baseline, sent: 0 },
  ]
  await comparison.prepare?.()
  let answers = 0
  const run = async (side: Side, durationMs: number): Promise<Run> => {
    const measured = await ask(peers[side] as Peer, side === 'baseline' ? ofBaseline : ofProducts, durationMs)
    if (side !== 'baseline') answers += measured.answers
    return measured
  }
  for (const side of sides) await run(side, Math.max(course.warmUpMs ?? leastWarmUpMs, course.durationMs))
  const runs: Record<Side, Run[]> = { product: [], other: [], baseline: [] }
  for (let round = 0; round < course.rounds; round++) {
    for (const side of rotate(sides, round)) runs[side].push(await run(side, course.durationMs))
  }
  await comparison.verify?.(answers)
  return resultOf(comparison.name, runs)
}

const leastWarmUpMs = 500

interface RequestSequence {
  requestOf: (n: number) => Buffer
  /** Number of requests sent. */
  sent: number
}

function createRunner(comparison: Comparison, course: Course) {
  const connections = comparison.connections ?? course.connections
  return async (peer: Peer, sequence: RequestSequence, durationMs: number): Promise<Run> => {
    // Continues after the requests of the last run: repeating the same writes would change nothing.
    const first = sequence.sent
    const request = (n: number) => {
      sequence.sent = Math.max(sequence.sent, first + n + 1)
      return sequence.requestOf(first + n)
    }
    const cpuEach = startMeter(peer, course.postgres)
    const measured = await measure({ host: '127.0.0.1', port: peer.port, connections, durationMs, request })
    if (measured.failures > 0) throw new Error(`${comparison.name}: ${measured.failures} answers other than 2xx`)
    return { ...measured, cpu: cpuEach(measured.answers) }
  }
}

/** Rotates the order, so that each side takes every position in turn: a side can leave work behind for the next one. */
export function rotate<T>(all: readonly T[], by: number): T[] {
  const at = by % all.length
  return [...all.slice(at), ...all.slice(0, at)]
}

function resultOf(name: string, { product, other, baseline }: Record<Side, Run[]>): Result {
  const ratios = ratiosOf(product, baseline, (run) => run.perSecond)
  const ofOther = {
    perSecond: ratiosOf(product, other, (run) => run.perSecond),
    node: ratiosOf(product, other, (run) => run.cpu?.node),
    postgres: ratiosOf(product, other, (run) => run.cpu?.postgres),
  }
  return {
    name,
    product: medianOf(product),
    baseline: medianOf(baseline),
    ratio: median(ratios),
    ratios,
    other: other.length === 0 ? null : { run: medianOf(other), ratios: ofOther },
  }
}

/** Returns the ratio of each round; leaves out rounds with a missing or zero figure. */
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
