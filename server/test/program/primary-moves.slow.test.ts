import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { openDb } from '../../src/base/db.ts'
import { atEnd } from '../support/file-end.ts'
import { newFolder } from '../support/folder.ts'
import { hasPostgres, howToGetPostgres, type PostgresPair, startPostgresPair } from '../support/postgres-pair.ts'
import { freePort, newWorkspace, type Service, startService } from '../support/program/service.ts'
import { until } from '../support/until.ts'

const rounds = Number(process.env.FAILOVER_ROUNDS ?? 1)
/** From the moment that there is a primary again, on a machine that does much else. */
const maxGapMs = 8_000
/** A primary that is silent is waited for as long as a statement may take. */
const maxSilenceMs = 30_000
/** Nobody waits longer for an answer, whatever it is. */
const maxAnswerMs = 20_000

/** How the primary goes, each leaving the other one in its place. */
const moves: [what: string, go: (pair: PostgresPair) => unknown, maxMs: number][] = [
  ['killed', (pair) => pair.kill(), maxGapMs],
  ['stopped in good order', (pair) => pair.stop(), maxGapMs],
  ['frozen', (pair) => pair.freeze(), maxSilenceMs],
]

const skip = hasPostgres() ? false : howToGetPostgres
test('while the primary moves callers are told to come again, nothing acknowledged is lost, and all goes on by itself', {
  skip,
}, async (t) => {
  const pair = await startPostgresPair()
  const env = { DATABASE_URL: pair.url, PARLEY_MASTER_KEY: randomBytes(32).toString('base64'), ...counted }
  const service = await startService({ folder: await newFolder(), port: await freePort(), env })
  const callers = await startCallers(service)
  for (let round = 0; round < rounds; round++) {
    for (const [what, go, maxMs] of moves) {
      await callers.more(20)
      const before = callers.lastAt()
      await go(pair)
      if (what === 'killed') await callers.toldToComeAgain()
      await pair.promote()
      const promotedAt = performance.now()
      await callers.more(20)
      const writtenAt = callers.firstSince(promotedAt)
      const gapMs = Math.round(writtenAt - promotedAt)
      t.diagnostic(
        `${what}: written ${gapMs} ms after the promotion, ${Math.round(writtenAt - before)} ms after the last time before it`,
      )
      assert.ok(gapMs < maxMs, `${what}: ${gapMs} ms`)
      await pair.rejoin()
    }
  }
  await until(() => service.count(deaf) === service.count(hearsAgain), 'hearing again')
  const { acknowledged, counts, faults, slowestMs } = await callers.stop()
  t.diagnostic(
    `${acknowledged.length} acknowledged; answers ${JSON.stringify(counts)}, the slowest after ${Math.round(slowestMs)} ms`,
  )

  assert.deepEqual(faults, [])
  assert.ok(Number(counts['503']) > 0)
  assert.ok(service.count(deaf) >= rounds)
  const stored = await storedLeads(pair)
  assert.deepEqual(
    acknowledged.filter((id) => !stored.has(id)),
    [],
  )
})

const deaf = 'news of the database are not heard'
const hearsAgain = 'news of the database are heard again'
/** Limits are counted in the database, in a table that a standby cannot read. */
const counted = { PARLEY_LEADS_RATE_LIMIT: '1000000' }

interface Callers {
  /** Resolves after so many further acknowledged writes. */
  more(count: number): Promise<void>
  /** Resolves once some more were. */
  toldToComeAgain(): Promise<void>
  lastAt(): number
  /** When the first write after this moment was acknowledged. */
  firstSince(ms: number): number
  stop(): Promise<{ acknowledged: string[]; counts: Record<string, number>; faults: string[]; slowestMs: number }>
}

interface Written {
  id: string
  at: number
}

const tryAgainMs = 50

/** Four that write and one that reads, each one request after the other. */
async function startCallers({ url }: Service): Promise<Callers> {
  const { key } = await newWorkspace(url)
  const written: Written[] = []
  const counts: Record<string, number> = {}
  const faults: string[] = []
  let slowestMs = 0
  let isOver = false
  const call = async (what: string, init: RequestInit) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const startedAt = performance.now()
    const reply = await fetch(`${url}/api/v1/leads`, { ...init, headers })
    const body = await reply.text()
    counts[reply.status] = (counts[reply.status] ?? 0) + 1
    const ms = performance.now() - startedAt
    slowestMs = Math.max(slowestMs, ms)
    const isFine = reply.ok || (reply.status === 503 && reply.headers.has('retry-after'))
    if (!isFine || ms > maxAnswerMs) faults.push(`${what}: ${reply.status} after ${Math.round(ms)} ms: ${body}`)
    if (!reply.ok) await wait(tryAgainMs)
    return reply.ok ? JSON.parse(body) : null
  }
  const write = async (name: string) => {
    for (let n = 0; !isOver; n++) {
      const body = JSON.stringify({ firstName: 'Kim', externalRef: `${name}-${n}` })
      const answer = await call('write', { method: 'POST', body })
      if (answer !== null) written.push({ id: answer.data.id, at: performance.now() })
    }
  }
  const read = async () => {
    while (!isOver) {
      await call('read', { method: 'GET' })
      await wait(tryAgainMs)
    }
  }
  const running = Promise.all([...['ada', 'ben', 'eva', 'leo'].map(write), read()])
  running.catch(() => {})
  return {
    more: (count) => {
      const enough = written.length + count
      return until(() => written.length >= enough, `${count} writes`, 60_000)
    },
    toldToComeAgain: () => {
      const enough = (counts['503'] ?? 0) + 10
      return until(() => (counts['503'] ?? 0) >= enough, 'answers that say so')
    },
    lastAt: () => written.at(-1)?.at ?? 0,
    firstSince: (ms) => written.find(({ at }) => at > ms)?.at ?? Number.POSITIVE_INFINITY,
    stop: async () => {
      isOver = true
      await running
      return { acknowledged: written.map(({ id }) => id), counts, faults, slowestMs }
    },
  }
}

async function storedLeads({ url }: PostgresPair): Promise<Set<string>> {
  const db = openDb({ url })
  atEnd(() => db.close())
  return new Set((await db.sql<{ id: string }[]>`select id from leads`).map(({ id }) => id))
}
