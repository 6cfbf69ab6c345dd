import type { Db } from '../../server/src/base/db.ts'
import type { BaselineTask } from '../baselines/webhook-baseline.ts'
import type { Child } from '../child.ts'
import { ratiosOf, rotate } from '../comparison.ts'
import { type CpuTime, startMeter } from '../cpu-time.ts'
import { cpuCell, cpuHead, median, medianCpu, spreadCell } from '../figures.ts'
import {
  addReceivers,
  farFuture,
  received,
  recordBacklog,
  release,
  resumeOnly,
  type WebhookCourse,
} from './webhook-backlog.ts'

/** Concurrent deliveries of the product to a healthy endpoint; the baselines use the same number. */
const concurrencyPerEndpoint = 16

interface Size {
  endpoints: number
  events: number
}

interface Run {
  perSecond: number
  /** Per delivery. */
  cpu: CpuTime | null
}

/** Medians of the delivery rates of each side. */
export interface Throughput {
  name: string
  runs: Record<string, Run>
}

/** Prints how fast waiting events are delivered to a receiver. */
export async function printThroughput(course: WebhookCourse, sizes: readonly Size[]): Promise<Throughput[]> {
  await makeBaselineJobs(course.db)
  const names = [...(course.other === undefined ? ['Parley'] : ['Parley', 'the other']), 'bare requests', 'job table']
  const heads = [
    ...['webhooks', ...names.flatMap((name) => [name, cpuHead]), 'of bare', 'of jobs (spread)'],
    ...(course.other === undefined ? [] : ['of the other: rate', "Node's CPU time", "PostgreSQL's"]),
  ]
  console.log(`\n| ${heads.join(' | ')} |\n| ${heads.map(() => '---').join(' | ')} |`)
  const results: Throughput[] = []
  for (const size of sizes) {
    const name = `${size.events} events, ${size.endpoints} endpoint${size.endpoints > 1 ? 's' : ''}`
    const runs = await runSize(course, size)
    console.log(`| ${[name, ...cellsOf(runs)].join(' | ')} |`)
    results.push({ name, runs: Object.fromEntries(runs.map((of, side) => [names[side], medianOf(of)])) })
  }
  return results
}

/** Returns the runs of each side. */
async function runSize(course: WebhookCourse, size: Size): Promise<Run[][]> {
  const { worker, other } = course
  const sides = [
    () => drain(course, worker, size),
    ...(other === undefined ? [] : [() => drain(course, other, size)]),
    () => runBaseline(course, 'bare', size),
    () => runBaseline(course, 'leases', size),
  ]
  const runs: Run[][] = sides.map(() => [])
  // Runs one extra round first as a warm-up.
  for (let round = 0; round <= course.rounds; round++) {
    for (const side of rotate([...sides.keys()], round)) {
      const run = await sides[side]?.()
      if (round > 0 && run !== undefined) runs[side]?.push(run)
    }
  }
  return runs
}

function cellsOf(runs: readonly Run[][]): string[] {
  const [product = [], other = []] = runs
  const [bare = [], jobs = []] = runs.slice(-2)
  const perSecond = (run: Run) => run.perSecond
  const ofOther = [perSecond, (run: Run) => run.cpu?.node, (run: Run) => run.cpu?.postgres]
  return [
    ...runs.map(medianOf).flatMap((run) => [`${Math.round(run.perSecond)}/s`, cpuCell(run.cpu)]),
    median(ratiosOf(product, bare, perSecond)).toFixed(2),
    spreadCell(ratiosOf(product, jobs, perSecond)),
    ...(runs.length === 3 ? [] : ofOther.map((figure) => spreadCell(ratiosOf(product, other, figure)))),
  ]
}

const medianOf = (runs: readonly Run[]): Run => ({
  perSecond: median(runs.map((run) => run.perSecond)),
  cpu: medianCpu(runs.map((run) => run.cpu)),
})

/** Lets a worker deliver the backlog. */
async function drain(course: WebhookCourse, worker: Child, size: Size): Promise<Run> {
  await resumeOnly(course, worker)
  const workspace = await addReceivers(course, size.endpoints, farFuture)
  await recordBacklog(course.db, workspace, size.events)
  const count = size.endpoints * size.events
  const cpuEach = startMeter(worker, course.postgres)
  await release(course.db, workspace)
  const { perSecond } = await received(course, count)
  return { perSecond, cpu: cpuEach(count) }
}

async function runBaseline(course: WebhookCourse, kind: BaselineTask['kind'], size: Size): Promise<Run> {
  const count = size.endpoints * size.events
  if (kind === 'leases') await fillBaselineJobs(course.db, count)
  const task: BaselineTask = { kind, count, width: size.endpoints * concurrencyPerEndpoint, port: course.receiver.port }
  const cpuEach = startMeter(course.baseline, course.postgres)
  await fetch(`http://127.0.0.1:${course.baseline.port}/`, { method: 'POST', body: JSON.stringify(task) })
  const { perSecond } = await received(course, count)
  return { perSecond, cpu: cpuEach(count) }
}

async function makeBaselineJobs(db: Db): Promise<void> {
  await db.sql.unsafe(`
      create table floor_jobs (
        id bigint generated always as identity primary key,
        body text not null,
        lease_until timestamptz,
        done_at timestamptz
      );
      create index on floor_jobs (id) where done_at is null;
    `)
}

async function fillBaselineJobs(db: Db, count: number): Promise<void> {
  const body = JSON.stringify({ at: 0, text: 'x'.repeat(600) })
  await db.sql`insert into floor_jobs (body) select ${body} from generate_series(1, ${count}::integer)`
}
