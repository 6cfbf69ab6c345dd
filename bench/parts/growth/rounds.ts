import { type Course, type Run, rotate } from '../../comparison.ts'
import { startMeter } from '../../cpu-time.ts'
import { cpuCell, cpuHead, median, medianCpu, spreadCell } from '../../figures.ts'
import type { Size } from '../../large/load-large.ts'
import { measure } from '../../load.ts'
import { line } from '../../results-table.ts'
import type { WorkItem } from './requests.ts'
import type { Side } from './side.ts'

/** Results of one kind of work on each side, per round. */
export interface GrowthResult {
  name: string
  sides: { name: string; runs: Run[] }[]
}

export const withoutMemory = 'alone, by the database'
const leastWarmUpMs = 500

export async function runRounds(work: WorkItem, all: readonly Side[], course: Course): Promise<GrowthResult> {
  const sides = all.filter(({ name }) => work.isFromMemory || name !== withoutMemory)
  const asked = new Map<Side, number>()
  const run = async (side: Side, durationMs: number): Promise<Run> => {
    // Continues after the requests of the last run: repeating the same writes would change nothing.
    const first = asked.get(side) ?? 0
    const request = (n: number) => {
      asked.set(side, Math.max(asked.get(side) ?? 0, first + n + 1))
      return work.request(side, first + n)
    }
    const cpuEach = startMeter(side.peer, course.postgres)
    const connections = work.connections ?? course.connections
    const measured = await measure({ host: '127.0.0.1', port: side.peer.port, connections, durationMs, request })
    return { ...measured, cpu: cpuEach(Math.max(1, measured.answers)) }
  }
  for (const side of sides) await run(side, Math.max(leastWarmUpMs, course.durationMs))
  const grown = { name: work.name, sides: sides.map(({ name }) => ({ name, runs: [] as Run[] })) }
  for (let round = 0; round < course.rounds; round++) {
    for (const side of rotate(sides, round)) {
      const measured = await run(side, course.durationMs)
      grown.sides.find(({ name }) => name === side.name)?.runs.push(measured)
    }
  }
  return grown
}

interface Title {
  size: Size
  few: Size
  connections: number
}

/** Prints rates and times of each side, and its rates and processor times relative to the workspace alone. */
export function printGrowth(results: readonly GrowthResult[], { size, few, connections }: Title): void {
  const what = ({ leads, conversations, each }: Size) => `${leads} leads and ${conversations * each} messages`
  console.log(`\n${what(size)} beside ${what(few)}, ${connections} connections`)
  console.log(`| work | where | p50/p99 | ${cpuHead} | rate, relative to alone | CPU time, relative to alone |`)
  console.log('|---|---|---|---|---|---|')
  for (const { name, sides } of results) {
    const alone = sides.find((side) => side.name === 'alone')?.runs ?? []
    for (const side of sides) console.log(`| ${[name, side.name, ...cells(side.runs, alone)].join(' | ')} |`)
  }
}

function cells(runs: readonly Run[], alone: readonly Run[]): string[] {
  const middle = (figure: (run: Run) => number) => median(runs.map(figure))
  const measured = {
    perSecond: middle((run) => run.perSecond),
    p50Ms: middle((run) => run.p50Ms),
    p99Ms: middle((run) => run.p99Ms),
    answers: 0,
    failures: runs.reduce((sum, run) => sum + run.failures, 0),
  }
  const failed = measured.failures === 0 ? '' : `, ${measured.failures} failed`
  const of = (figure: (run: Run) => number | undefined) =>
    spreadCell(
      runs.flatMap((run, round) => {
        const [our, their] = [figure(run), alone[round] && figure(alone[round])]
        return our === undefined || !their ? [] : [our / their]
      }),
    )
  const cpu = cpuCell(medianCpu(runs.map((run) => run.cpu)))
  return [
    `${line(measured)}${failed}`,
    cpu,
    of((run) => run.perSecond),
    of((run) => (run.cpu && run.cpu.node + run.cpu.postgres) || undefined),
  ]
}
