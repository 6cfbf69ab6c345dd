import { setTimeout as wait } from 'node:timers/promises'
import { apis } from '../machines.ts'
import { until } from '../processes.ts'
import { renewDatabase, settled, strayed } from '../up/databases.ts'
import { serving } from '../up/services.ts'
import { type Answered, type Callers, startCallers } from './callers.ts'
import type { Case, Stage } from './cases.ts'
import { type CaseResult, longestGapMs, percentile } from './figures.ts'
import { brokenPromises, repeatsOf } from './promises.ts'
import { readBack } from './read-back.ts'
import { measureNews } from './read-feed.ts'
import { makeWorld } from './world.ts'

export type Tell = (words: string) => void

const newsEach = 10
const slowestNewsMs = 100
const beforeMs = 2_000
const mendMs = 60_000
const shownFindings = 5

/** Runs a case in a new workspace, for some rounds or until `endsAt`, then reads everything back and checks it. */
export async function runCase(one: Case, rounds: number, endsAt: number, tell: Tell): Promise<CaseResult> {
  const world = await makeWorld(one.title)
  const callers = startCallers(world)
  const outagesMs: number[] = []
  const newsMs: number[] = []
  const answers: Answered[] = []
  const wrong: Answered[] = []
  const findings: string[] = []
  let done = 0
  let copiedAnew = 0
  try {
    for (; done < rounds && (done === 0 || performance.now() < endsAt); done++) {
      const { outageMs, answered, copiedAnew: copies } = await runRound(one, callers, tell)
      outagesMs.push(outageMs)
      copiedAnew += copies
      answers.push(...answered)
      wrong.push(...answered.filter((answer) => !isAllowed(answer, one.mayRefuse)))
      await callers.pause()
      const news = await measureNews(world, newsEach)
      newsMs.push(...news)
      callers.goOn()
      const seen = `${(outageMs / 1000).toFixed(1)} s without a write; notification ${Math.round(percentile(news, 50))} ms`
      tell(`${one.title}, round ${done + 1}: ${seen}; ${JSON.stringify(countStatuses(answered))}`)
    }
  } catch (error) {
    findings.push(`round ${done + 1} failed: ${error instanceof Error ? error.message : error}`)
  }
  await callers.stop()
  tell('reading back')
  const found = await readBack(world)
  findings.push(...brokenPromises(callers.ledger, found))
  findings.push(...beyondLimits(one, { outagesMs, newsMs, wrong }))
  for (const words of findings.slice(0, shownFindings)) tell(`FINDING: ${words}`)
  const { leads, callbacks, sends } = callers.ledger
  const changes = [...leads.values()].reduce((sum, { acknowledged }) => sum + acknowledged, 0)
  return {
    name: one.title,
    rounds: done,
    copiedAnew,
    acknowledged: { leads: leads.size, changes, callbacks: callbacks.size, sends: sends.size },
    webhooks: { events: found.events.length, repeats: repeatsOf(found) },
    outagesMs,
    newsMs,
    statuses: countStatuses(answers),
    findings,
  }
}

interface Round {
  outageMs: number
  answered: Answered[]
  copiedAnew: number
}

async function runRound(one: Case, callers: Callers, tell: Tell): Promise<Round> {
  const primary = await settled()
  await until(async () => (await serving()).length === apis.length, 'both APIs at the load balancer')
  const written = (count: number) => {
    const goal = callers.writtenAt().length + count
    return until(() => callers.writtenAt().length >= goal, `${count} writes`, 120_000, 20)
  }
  await written(20)
  await wait(beforeMs)
  const first = callers.answered.length
  let fromMs = performance.now()
  const stage: Stage = {
    primary,
    written,
    tell,
    countFromHere: () => {
      fromMs = performance.now()
    },
  }
  await one.round(stage)
  const copiedAnew = await mend(tell)
  await until(async () => (await serving()).length === apis.length, 'both APIs at the load balancer')
  await written(20)
  const toMs = performance.now()
  const answered = callers.answered.slice(first)
  return { outageMs: longestGapMs(callers.writtenAt(), fromMs, toMs), answered, copiedAnew }
}

/** Copies standbys that do not recover by themselves from the primary, as an operator would. Returns their number. */
async function mend(tell: Tell): Promise<number> {
  const isWhole = await settled(mendMs).then(
    () => true,
    () => false,
  )
  if (isWhole) return 0
  const lost = await strayed()
  for (const name of lost) {
    tell(`${name} does not recover; copying it from the primary`)
    await renewDatabase(name)
  }
  await settled()
  return lost.length
}

interface Measured {
  outagesMs: readonly number[]
  newsMs: readonly number[]
  /** Answers that violate the contract. */
  wrong: readonly Answered[]
}

function beyondLimits(one: Case, { outagesMs, newsMs, wrong }: Measured): string[] {
  const outage = percentile(outagesMs, 95)
  const news = percentile(newsMs, 50)
  return [
    ...(outage > one.longestOutageMs ? [`outage p95 ${Math.round(outage)} ms, limit ${one.longestOutageMs} ms`] : []),
    ...(news > slowestNewsMs ? [`notification p50 ${Math.round(news)} ms, limit ${slowestNewsMs} ms`] : []),
    ...Object.entries(countStatuses(wrong)).map(([status, count]) => `${count} × ${status}`),
  ]
}

/** Allowed refusals: a 503 that asks for a retry, or a 409 because the same send is still in progress. */
function isAllowed({ status, what }: Answered, mayRefuse: boolean): boolean {
  if (typeof status === 'string') return false
  return status < 300 || (mayRefuse && (status === 503 || (status === 409 && what === 'send')))
}

function countStatuses(answers: readonly Answered[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}
