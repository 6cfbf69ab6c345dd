import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { openDb } from '../../src/base/db.ts'
import { atEnd } from '../support/file-lifecycle.ts'
import { startCallers } from '../support/program/callers.ts'
import { newWorkspace, startService } from '../support/program/service.ts'
import { until } from '../support/until.ts'
import { hasPostgres, howToGetPostgres, type PostgresPair, startPostgresPair } from './postgres-pair.ts'

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
const deaf = 'LISTEN connection lost; polling until it is restored'
const hearsAgain = 'LISTEN connection restored'
/** Limits are counted in the database, in a table that a standby cannot read. */
const counted = { PARLEY_LEADS_RATE_LIMIT: '1000000' }

const skip = hasPostgres() ? false : howToGetPostgres
test('during a failover callers get 503, no acknowledged write is lost, and the service recovers', {
  skip,
}, async (t) => {
  const pair = await startPostgresPair()
  const env = { DATABASE_URL: pair.url, PARLEY_MASTER_KEY: randomBytes(32).toString('base64'), ...counted }
  const service = await startService({ env })
  const { key } = await newWorkspace(service.url)
  const callers = startCallers({ url: service.url, key, reads: ['/api/v1/leads'], maxMs: maxAnswerMs })
  for (let round = 0; round < rounds; round++) {
    for (const [what, go, maxMs] of moves) {
      await callers.more(20)
      await go(pair)
      if (what === 'killed') await callers.refused(10)
      await pair.promote()
      const promotedAt = Date.now()
      await callers.more(20)
      const writtenAt = callers.written.find(({ at }) => at > promotedAt)?.at ?? Number.POSITIVE_INFINITY
      const gapMs = writtenAt - promotedAt
      t.diagnostic(`${what}: written ${gapMs} ms after the promotion`)
      assert.ok(gapMs < maxMs, `${what}: ${gapMs} ms`)
      await pair.rejoin()
    }
  }
  await until(() => service.count(deaf) === service.count(hearsAgain), 'hearing again')
  await callers.stop()
  const { written, counts, faults } = callers
  t.diagnostic(
    `${written.length} acknowledged; answers ${JSON.stringify(counts)}, the slowest after ${Math.round(callers.slowestMs())} ms`,
  )

  assert.deepEqual(faults, [])
  assert.ok((counts[503] ?? 0) > 0)
  assert.ok(service.count(deaf) >= rounds)
  const db = openDb({ url: pair.url })
  atEnd(() => db.close())
  const stored = new Set((await db.sql<{ id: string }[]>`select id from leads`).map(({ id }) => id))
  assert.deepEqual(
    written.filter(({ id }) => !stored.has(id)),
    [],
  )
})
