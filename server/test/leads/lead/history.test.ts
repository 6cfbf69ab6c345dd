import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listStatusChanges } from '../../../src/leads/lead/history.ts'
import { leadPath, leadsPath } from '../../support/leads/leads.ts'
import { type World, world } from '../../support/world.ts'

async function history({ db, workspaceId }: World, id: string) {
  const rows = await listStatusChanges(db.sql, workspaceId, id)
  return rows.map(({ from_status, to_status }) => `${from_status} ${to_status}`)
}

const by = (id: string, lead: object) => ({ match: { by: 'id', value: id }, lead })

test('a batch keeps every step, also of a lead that it created itself', async () => {
  const w = await world()
  const { id } = await w.lead()
  const ref = (lead: object) => ({ match: { by: 'externalRef', value: 'r' }, lead })
  const items = [
    by(id, { status: 'a' }),
    ref({ firstName: 'A', status: 'x' }),
    by(id, { status: 'b' }),
    ref({ status: 'y' }),
    ref({ status: 'y' }),
    by(id, { status: 'a' }),
  ]
  const { body } = await w.call('POST', `${leadsPath}/bulk-upsert`, { body: { items } })
  assert.equal(body.success, true)
  assert.deepEqual(await history(w, id), ['new a', 'a b', 'b a'])
  assert.deepEqual(await history(w, body.results[1].lead.id), ['x y'])
})

test('parallel changes of status make one unbroken chain', async () => {
  const w = await world()
  const { id } = await w.lead()
  const statuses = Array.from({ length: 12 }, (_, n) => `s${n}`)
  await Promise.all(statuses.map((status) => w.call('PATCH', leadPath(id), { body: { status } })))
  const rows = await listStatusChanges(w.db.sql, w.workspaceId, id)
  const next = new Map(rows.map((row) => [row.from_status, row.to_status]))
  const chain = ['new']
  for (let at = next.get('new'); at !== undefined; at = next.get(at)) chain.push(at)
  assert.equal(chain.length, 13)
  assert.equal((await w.call('GET', leadPath(id))).body.data.status, chain.at(-1))
})
