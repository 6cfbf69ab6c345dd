import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../server/src/base/db.ts'
import { callbackOf, signedCallback, textsOf, webhookPath } from '../callbacks.ts'
import { customerPhone, fillingOf, type SeededConnection, seedConnection } from '../inbox-seed.ts'
import { openExchange, requestBytes } from '../load.ts'
import { person } from '../people.ts'
import { type BenchWorkspace, makeWorkspace, teamToken } from '../workspace.ts'

const connections = 40
/** Default rate limit of a key of the leads API, per second. */
const ofKey = 3_000 / 60
const normalPerSecond = 400

interface LoadProfile {
  name: string
  perSecond: number
  request: (n: number) => Buffer
}

/** Prints how long a workspace's creates take while another one sends as much as its limits allow, and without it. */
export async function runNeighbours(db: Db, port: number, rounds: number, durationMs: number): Promise<void> {
  const [loud, other] = [await makeWorkspace(db), await makeWorkspace(db)]
  console.log(
    '\n| 40 connections of another workspace | alone, p50/p95 | beside it | ratio of p95 (spread) | answered, refused |',
  )
  console.log('|---|---|---|---|---|')
  for (const profile of await loadProfiles(db, loud)) {
    const measured: { quiet: Spread; beside: Spread; answers: number; refused: number }[] = []
    for (let round = 0; round <= rounds; round++) {
      const quiet = await createSlowly(port, other, durationMs)
      const [beside, run] = await Promise.all([
        createSlowly(port, other, durationMs),
        sendLoad(port, profile, durationMs),
      ])
      // The first round is the warm-up.
      if (round > 0) measured.push({ quiet, beside, ...run })
    }
    printProfile(profile, durationMs, measured)
  }
}

interface Spread {
  p50: number
  p95: number
}

function printProfile(
  { name }: LoadProfile,
  durationMs: number,
  rounds: readonly { quiet: Spread; beside: Spread; answers: number; refused: number }[],
): void {
  const ms = (all: readonly Spread[]) =>
    `${median(all.map((one) => one.p50)).toFixed(1)}/${median(all.map((one) => one.p95)).toFixed(1)} ms`
  const ratios = rounds.map(({ quiet, beside }) => beside.p95 / quiet.p95)
  const perSecond = (counts: readonly number[]) => `${Math.round((median(counts) / durationMs) * 1000)}/s`
  const cells = [
    name,
    ms(rounds.map((round) => round.quiet)),
    ms(rounds.map((round) => round.beside)),
    `${median(ratios).toFixed(1)} (${Math.min(...ratios).toFixed(1)}–${Math.max(...ratios).toFixed(1)})`,
    `${perSecond(rounds.map((round) => round.answers))}, ${perSecond(rounds.map((round) => round.refused))}`,
  ]
  console.log(`| ${cells.join(' | ')} |`)
}

async function loadProfiles(db: Db, loud: BenchWorkspace): Promise<LoadProfile[]> {
  const headers = { authorization: `Bearer ${loud.key}` }
  const items = Array.from({ length: 100 }, (_, n) => {
    const { externalRef, ...lead } = person(n)
    return { match: { by: 'externalRef', value: externalRef }, lead }
  })
  const upserts = (n: number) =>
    items.map(({ match, lead }) => ({ match, lead: { ...lead, estimatedValue: n % 10_000 } }))
  const connection = await seedConnection(await fillingOf(db, loud), loud, 1, 400)
  const token = { authorization: `Bearer ${await teamToken(db, loud)}` }
  const team = `/api/team/v1/workspaces/${loud.workspaceId}`
  return [
    {
      name: 'bulk upserts of the same 100 leads',
      perSecond: ofKey,
      request: (n) => requestBytes('POST', '/api/v1/leads/bulk-upsert', headers, { items: upserts(n) }),
    },
    {
      name: 'creates',
      perSecond: normalPerSecond,
      request: () => requestBytes('POST', '/api/v1/leads', headers, { firstName: 'Marina' }),
    },
    { name: 'callbacks with 10 messages', perSecond: normalPerSecond / 4, request: (n) => callback(connection, n) },
    {
      name: "the team's first page",
      perSecond: normalPerSecond,
      request: () => requestBytes('GET', `${team}/inbox/conversations`, token),
    },
  ]
}

function callback(connection: SeededConnection, n: number): Buffer {
  const written = Array.from({ length: 10 }, (_, i) => ({
    from: customerPhone((n * 7 + i) % 400),
    id: `wamid.N${process.pid}.${Date.now()}.${n}.${i}`,
    body: 'Is it still there?',
  }))
  return signedCallback(webhookPath(connection), callbackOf(connection, textsOf(written)))
}

/** Sends creates one after the other, with pauses. */
async function createSlowly(port: number, { key }: BenchWorkspace, durationMs: number): Promise<Spread> {
  const bytes = requestBytes('POST', '/api/v1/leads', { authorization: `Bearer ${key}` }, { firstName: 'Ana' })
  const exchange = openExchange(port)
  const latencies: number[] = []
  const end = performance.now() + durationMs
  while (performance.now() < end) {
    const sentAt = performance.now()
    const status = await exchange.send(bytes)
    if (status !== 201) throw new Error(`The small workspace was answered with ${status}`)
    latencies.push(performance.now() - sentAt)
    await sleep(10)
  }
  exchange.close()
  latencies.sort((a, b) => a - b)
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? Number.NaN
  return { p50: at(0.5), p95: at(0.95) }
}

/** Sends as many requests as the limit allows, over several connections. */
async function sendLoad(port: number, { perSecond, request }: LoadProfile, durationMs: number) {
  const started = performance.now()
  let next = 0
  let answers = 0
  let refused = 0
  const run = async () => {
    const exchange = openExchange(port)
    for (;;) {
      const n = next++
      const dueMs = started + (n / perSecond) * 1000 - performance.now()
      if (started + (n / perSecond) * 1000 > started + durationMs) break
      if (dueMs > 0) await sleep(dueMs)
      if (performance.now() > started + durationMs) break
      const status = await exchange.send(request(n))
      if (status < 300) answers++
      else if (status === 503 || status === 429) refused++
      else throw new Error(`The busy workspace was answered with ${status}`)
    }
    exchange.close()
  }
  await Promise.all(Array.from({ length: connections }, run))
  return { answers, refused }
}

function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
