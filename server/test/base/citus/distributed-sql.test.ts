import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import {
  assumeDistributed,
  byWorkspace,
  claimFirst,
  detectDistribution,
  isDistributed,
} from '../../../src/base/citus/distributed-sql.ts'
import { openDb } from '../../../src/base/db.ts'
import { testDatabase } from '../../support/database.ts'
import { atEnd } from '../../support/file-lifecycle.ts'

async function ownDb() {
  const { options } = await testDatabase()
  const db = openDb(options)
  atEnd(() => db.close())
  return db
}

test('one server is queried for all workspaces at once, a cluster for each workspace by its id', async () => {
  const items = ['a', 'b', 'a'].map((workspaceId, n) => ({ workspaceId, n }))
  const asked = async (db: Awaited<ReturnType<typeof ownDb>>) => {
    const seen: unknown[] = []
    const answers = await byWorkspace(
      db.sql,
      items,
      (item) => item.workspaceId,
      async (some, only) => {
        seen.push([only, some.map(({ n }) => n)])
        return some.map(({ n }) => n)
      },
    )
    return { seen, answers }
  }
  const one = await ownDb()
  await detectDistribution(one)
  assert.equal(isDistributed(one.sql), false)
  assert.deepEqual(await asked(one), { seen: [[null, [0, 1, 2]]], answers: [0, 1, 2] })
  const several = await ownDb()
  assumeDistributed(several.sql)
  assert.deepEqual(await asked(several), {
    seen: [
      ['a', [0, 2]],
      ['b', [1]],
    ],
    answers: [0, 2, 1],
  })
})

test('detection applies to a database and its transactions, and to no other', async () => {
  const [several, one] = [await ownDb(), await ownDb()]
  assumeDistributed(several.sql)
  assert.equal(await several.tx(async (tx) => isDistributed(tx)), true)
  assert.equal(await one.tx(async (tx) => isDistributed(tx)), false)
})

test('a claim tries each workspace once, in order, until it succeeds', async () => {
  const [a, b, c] = [randomUUID(), randomUUID(), randomUUID()]
  const candidates = [a, a, b, c].map((workspaceId) => ({ workspaceId }))
  const asked: string[] = []
  const claim = (free: string | null) =>
    claimFirst(candidates, async (workspaceId) => {
      asked.push(workspaceId)
      return workspaceId === free ? 'claimed' : undefined
    })
  assert.equal(await claim(b), 'claimed')
  assert.deepEqual(asked.splice(0), [a, b])
  assert.equal(await claim(null), undefined)
  assert.deepEqual(asked, [a, b, c])
})
