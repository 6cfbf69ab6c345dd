import { type Measured, measure } from './load.ts'

/** The same work done by the product and by the floor. */
export interface Contest {
  name: string
  product: (n: number) => Buffer
  floor: (n: number) => Buffer
  /** Of another peer than the floor. */
  floorPort?: number
  /** Fewer than the run's, for requests that hold much work each. */
  connections?: number
  /** Throws when what the product did is not what it was asked: after so many answers. */
  verify?: (answers: number) => Promise<void>
}

export interface Course {
  productPort: number
  floorPort: number
  rounds: number
  connections: number
  durationMs: number
}

export interface Result {
  name: string
  product: Measured
  floor: Measured
  ratio: number
  ratios: number[]
}

/** One after the other within each round, so that a change of the machine's mood meets both. */
export async function compete(contest: Contest, course: Course): Promise<Result> {
  const measured: { product: Measured; floor: Measured }[] = []
  const connections = contest.connections ?? course.connections
  // A round goes on with the requests behind those of the last one: the same writes again would change nothing.
  const runner = (requestOf: (n: number) => Buffer, port: number) => {
    let asked = 0
    return (durationMs: number) => {
      const first = asked
      const request = (n: number) => {
        asked = Math.max(asked, first + n + 1)
        return requestOf(first + n)
      }
      return measure({ host: '127.0.0.1', port, connections, durationMs, request })
    }
  }
  const product = runner(contest.product, course.productPort)
  const floor = runner(contest.floor, contest.floorPort ?? course.floorPort)
  let answers = 0
  const runProduct = async (durationMs: number) => {
    const run = await product(durationMs)
    answers += run.answers
    return run
  }
  await runProduct(500)
  await floor(500)
  for (let round = 0; round < course.rounds; round++) {
    const ours = await runProduct(course.durationMs)
    const theirs = await floor(course.durationMs)
    if (ours.failures + theirs.failures > 0) {
      throw new Error(`${contest.name}: answers other than 2xx (${ours.failures}, ${theirs.failures} of the floor)`)
    }
    measured.push({ product: ours, floor: theirs })
  }
  await contest.verify?.(answers)
  const ratios = measured.map(({ product, floor }) => product.perSecond / floor.perSecond)
  return {
    name: contest.name,
    product: medianOf(measured.map((round) => round.product)),
    floor: medianOf(measured.map((round) => round.floor)),
    ratio: median(ratios),
    ratios,
  }
}

export function medianOf(runs: Measured[]): Measured {
  return {
    perSecond: median(runs.map((run) => run.perSecond)),
    p50Ms: median(runs.map((run) => run.p50Ms)),
    p99Ms: median(runs.map((run) => run.p99Ms)),
    answers: median(runs.map((run) => run.answers)),
    failures: 0,
  }
}

function median(numbers: number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

export const line = (m: Measured): string =>
  `${Math.round(m.perSecond)}/s ${m.p50Ms.toFixed(1)}/${m.p99Ms.toFixed(1)} ms`

export function printResults(head: string, results: readonly Result[], sides = ['Parley', 'floor']): void {
  console.log(`\n| ${head} | ${sides.map((side) => `${side}, p50/p99`).join(' | ')} | ratio (spread) |`)
  console.log('|---|---|---|---|')
  for (const { name, product, floor, ratio, ratios } of results) {
    const spread = `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`
    console.log(`| ${name} | ${line(product)} | ${line(floor)} | ${ratio.toFixed(2)} (${spread}) |`)
  }
}
