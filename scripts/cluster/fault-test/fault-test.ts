import { setTimeout as wait } from 'node:timers/promises'
import { apis } from '../machines.ts'
import { until } from '../processes.ts'
import { findStrayedStandbys, recopyDatabase, waitUntilSettled } from '../up/databases.ts'
import { listServingApis } from '../up/services.ts'
import { type Callers, type RecordedAnswer, startCallers } from './callers.ts'
import type { Case, RoundContext } from './cases.ts'
import { type CaseResult, longestGapMs, percentile } from './figures.ts'
import { findViolations, repeatsOf } from './guarantees.ts'
import { readBack } from './read-back.ts'
import { measureNotifications } from './read-feed.ts'
import { makeWorld } from './world.ts'

export type Log = (words: string) => void

const notificationsPerRound = 10
const maxNotificationMs = 100
const beforeMs = 2_000
const repairMs = 60_000
const shownFindings = 5

/** Runs a case in a new workspace, for some rounds or until `endsAt`, then reads everything back and checks it. */
export async function runCase(one: Case, rounds: number, endsAt: number, tell: Log): Promise<CaseResult> {
  const world = await makeWorld(one.title)
  const callers = startCallers(world)
  const outagesMs: number[] = []
  const notificationMs: number[] = []
  const answers: RecordedAnswer[] = []
  const wrong: RecordedAnswer[] = []
  const findings: string[] = []
  let done = 0
  let recopied = 0
  try {
    for (; done < rounds && (done === 0 || performance.now() < endsAt); done++) {
      const { outageMs, answered, recopied: copies } = await runRound(one, callers, tell)
      outagesMs.push(outageMs)
      recopied += copies
      answers.push(...answered)
      wrong.push(...answered.filter((answer) => !isAllowed(answer, one.allowsRefusals)))
      await callers.pause()
      const news = await measureNotifications(world, notificationsPerRound)
      notificationMs.push(...news)
      callers.resume()
      const seen = `${(outageMs / 1000).toFixed(1)} s without a write; notification ${Math.round(percentile(news, 50))} ms`
      tell(`${one.title}, round ${done + 1}: ${seen}; ${JSON.stringify(countStatuses(answered))}`)
    }
  } catch (error) {
    findings.push(`round ${done + 1} failed: ${error instanceof Error ? error.message : error}`)
  }
  await callers.stop()
  tell('reading back')
  const found = await readBack(world)
  findings.push(...findViolations(callers.ledger, found))
  findings.push(...findLimitViolations(one, { outagesMs, notificationMs, wrong }))
  for (const words of findings.slice(0, shownFindings)) tell(`FINDING: ${words}`)
  const { leads, callbacks, sends } = callers.ledger
  const changes = [...leads.values()].reduce((sum, { acknowledged }) => sum + acknowledged, 0)
  return {
    name: one.title,
    rounds: done,
    recopied,
    acknowledged: { leads: leads.size, changes, callbacks: callbacks.size, sends: sends.size },
    webhooks: { events: found.events.length, repeats: repeatsOf(found) },
    outagesMs,
    notificationMs,
    statuses: countStatuses(answers),
    findings,
  }
}

interface Round {
  outageMs: number
  answered: RecordedAnswer[]
  recopied: number
}

async function runRound(one: Case, callers: Callers, log: Log): Promise<Round> {
  const primary = await waitUntilSettled()
  await until(async () => (await listServingApis()).length === apis.length, 'both APIs at the load balancer')
  const waitForWrites = (count: number) => {
    const goal = callers.acknowledgedAt().length + count
    return until(() => callers.acknowledgedAt().length >= goal, `${count} writes`, 120_000, 20)
  }
  await waitForWrites(20)
  await wait(beforeMs)
  const first = callers.answers.length
  let fromMs = performance.now()
  const stage: RoundContext = {
    primary,
    waitForWrites,
    log,
    startOutage: () => {
      fromMs = performance.now()
    },
  }
  await one.round(stage)
  const recopied = await repairStandbys(log)
  await until(async () => (await listServingApis()).length === apis.length, 'both APIs at the load balancer')
  await waitForWrites(20)
  const toMs = performance.now()
  const answered = callers.answers.slice(first)
  return { outageMs: longestGapMs(callers.acknowledgedAt(), fromMs, toMs), answered, recopied }
}

/** Copies standbys that do not recover by themselves from the primary, as an operator would. Returns their number. */
async function repairStandbys(tell: Log): Promise<number> {
  const isWhole = await waitUntilSettled(repairMs).then(
    () => true,
    () => false,
  )
  if (isWhole) return 0
  const lost = await findStrayedStandbys()
  for (const name of lost) {
    tell(`${name} does not recover; copying it from the primary`)
    await recopyDatabase(name)
  }
  await waitUntilSettled()
  return lost.length
}

interface Measurements {
  outagesMs: readonly number[]
  notificationMs: readonly number[]
  /** Answers that violate the contract. */
  wrong: readonly RecordedAnswer[]
}

function findLimitViolations(one: Case, { outagesMs, notificationMs, wrong }: Measurements): string[] {
  const outage = percentile(outagesMs, 95)
  const news = percentile(notificationMs, 50)
  return [
    ...(outage > one.maxOutageMs ? [`outage p95 ${Math.round(outage)} ms, limit ${one.maxOutageMs} ms`] : []),
    ...(news > maxNotificationMs ? [`notification p50 ${Math.round(news)} ms, limit ${maxNotificationMs} ms`] : []),
    ...Object.entries(countStatuses(wrong)).map(([status, count]) => `${count} × ${status}`),
  ]
}

/** Allowed refusals: a 503 that asks for a retry, or a 409 because the same send is still in progress. */
function isAllowed({ status, what }: RecordedAnswer, mayRefuse: boolean): boolean {
  if (typeof status === 'string') return false
  return status < 300 || (mayRefuse && (status === 503 || (status === 409 && what === 'send')))
}

function countStatuses(answers: readonly RecordedAnswer[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}
