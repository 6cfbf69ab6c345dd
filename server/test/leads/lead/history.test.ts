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

test("each change of status is kept in the lead's history, with who made it and when", async () => {
  const w = await world()
  const other = await w.addKey({ scopes: ['leads.bulk'] })
  const { id } = await w.lead()
  const started = w.clock.now()
  w.clock.advance(1000)
  await w.call('PATCH', leadPath(id), { body: { status: 'qualified' } })
  w.clock.advance(1000)
  const body = by(id, { status: 'won' })
  await w.call('POST', `${leadsPath}/upsert`, { key: other.value, body })
  const rows = await listStatusChanges(w.db.sql, w.workspaceId, id)
  assert.deepEqual(
    rows.map(({ id: _, ...row }) => row),
    [
      {
        from_status: 'new',
        to_status: 'qualified',
        actor_type: 'agent',
        actor_id: w.keyId,
        changed_at: new Date(started.getTime() + 1000),
      },
      {
        from_status: 'qualified',
        to_status: 'won',
        actor_type: 'agent',
        actor_id: other.id,
        changed_at: new Date(started.getTime() + 2000),
      },
    ],
  )
})

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
