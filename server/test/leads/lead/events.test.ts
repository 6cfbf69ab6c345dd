import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listStatusChanges } from '../../../src/leads/lead/history.ts'
import { eventCounts, leadPath, leadsPath, storedRows } from '../../support/leads/leads.ts'
import { writePaths } from '../../support/leads/write-paths.ts'
import { type World, world } from '../../support/world.ts'

const upsertPath = `${leadsPath}/upsert`
const values = { customFieldValues: { k_city: 'Recife', vip: true } }

/** Returns the last recorded event of a lead, with its time. */
async function lastEvent(w: World, id: string) {
  const events = await w.events(id)
  const [row] = await w.db.sql<{ occurred_at: Date; position: number | null }[]>`
    select occurred_at, position
    from events
    where workspace_id = ${w.workspaceId}
      and subject_id = ${id}
    order by id desc
    limit 1`
  return { event: events.at(-1), count: events.length, ...row }
}

async function detail({ call }: World, id: string) {
  return (await call('GET', leadPath(id))).body.data
}

for (const { name, isUpdate, targets: targetsOf, send } of writePaths) {
  if (!isUpdate) {
    test(`${name}: a new lead emits lead.created with the lead in its detail form`, async () => {
      const w = await world()
      const [outcome] = await send(w, await targetsOf(w, 1), [{ phone: '5581991234567', ...values }])
      const { event, count, occurred_at, position } = await lastEvent(w, outcome?.lead.id)
      assert.equal(count, 1)
      assert.deepEqual(event, { name: 'lead.created', payload: await detail(w, outcome?.lead.id) })
      assert.deepEqual(occurred_at, w.clock.now())
      assert.equal(position, null)
      assert.deepEqual(event?.payload.customFieldValues, { k_city: 'Recife', city: 'Recife', vip: true })
    })
    continue
  }

  test(`${name}: a change emits lead.updated in detail form, with previousStatus only if the status changed; no change emits nothing`, async () => {
    const w = await world()
    const targets = await targetsOf(w, 1)
    const { id, status: previousStatus } = targets[0]?.base ?? assert.fail()
    const changes: [fields: object, more?: object][] = [
      [{ lastName: 'L', ...values }],
      [{ status: 'lost', notes: 'n' }, { previousStatus }],
      [{ customFieldValues: { vip: null } }],
    ]
    for (const [n, [fields, more]] of changes.entries()) {
      w.clock.advance(1000)
      for (let time = 0; time < 2; time++) await send(w, targets, [fields])
      const { event, count, occurred_at } = await lastEvent(w, id)
      assert.equal(count, n + 2)
      assert.deepEqual(event, { name: 'lead.updated', payload: { ...(await detail(w, id)), ...more } })
      assert.deepEqual(occurred_at, w.clock.now())
    }
  })
}

test('delete emits lead.deleted and restore emits lead.restored, with the lead in its detail form', async () => {
  const w = await world()
  const { id } = await w.lead(values)
  const before = await detail(w, id)
  w.clock.advance(1000)
  await w.call('DELETE', leadPath(id))
  const deletedAt = w.clock.now().toISOString()
  assert.deepEqual((await lastEvent(w, id)).event, { name: 'lead.deleted', payload: { ...before, deletedAt } })
  await w.call('POST', `${leadPath(id)}/restore`)
  assert.deepEqual((await lastEvent(w, id)).event, { name: 'lead.restored', payload: await detail(w, id) })
  assert.deepEqual(await eventCounts(w), { 'lead.created': 1, 'lead.deleted': 1, 'lead.restored': 1 })
})

test('event bodies contain the full phone, even if the writing key sees it masked', async () => {
  const w = await world()
  const { value: key } = await w.addKey({ scopes: ['leads.write'], phoneVisibility: 'masked' })
  const { body } = await w.call('POST', leadsPath, { key, body: { firstName: 'A', phone: '5581991234567' } })
  assert.equal((await lastEvent(w, body.data.id)).event?.payload.phone, '5581991234567')
})

test('an event is recorded in the transaction of its change: without the event there is no change', async () => {
  const w = await world()
  const lead = await w.lead({ lastName: 'Before' })
  const before = await storedRows(w)
  await w.db.sql`alter table events add constraint refuse_all check (false) not valid`
  try {
    const item = { match: { by: 'externalRef', value: 'x' }, lead: { firstName: 'A' } }
    const answers = [
      await w.call('POST', leadsPath, { body: { firstName: 'A' } }),
      await w.call('PATCH', leadPath(lead.id), { body: { lastName: 'After', status: 'won' } }),
      await w.call('DELETE', leadPath(lead.id)),
      await w.call('POST', upsertPath, { body: item }),
      await w.call('POST', `${leadsPath}/bulk-upsert`, { body: { items: [item] } }),
    ]
    for (const { status, body } of answers) {
      assert.equal(status, 500)
      assert.equal(body.statusMessage, 'Internal error')
    }
  } finally {
    await w.db.sql`alter table events drop constraint refuse_all`
  }
  assert.deepEqual(await storedRows(w), before)
})

async function history({ db, workspaceId }: World, id: string) {
  const rows = await listStatusChanges(db.sql, workspaceId, id)
  return rows.map(({ from, to }) => `${from} ${to}`)
}

const by = (id: string, lead: object) => ({ match: { by: 'id', value: id }, lead })

test('a batch records every change, also of a lead that it created', async () => {
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

test('parallel status changes form one unbroken chain', async () => {
  const w = await world()
  const { id } = await w.lead()
  const statuses = Array.from({ length: 12 }, (_, n) => `s${n}`)
  await Promise.all(statuses.map((status) => w.call('PATCH', leadPath(id), { body: { status } })))
  const rows = await listStatusChanges(w.db.sql, w.workspaceId, id)
  const next = new Map(rows.map((row) => [row.from, row.to]))
  const chain = ['new']
  for (let at = next.get('new'); at !== undefined; at = next.get(at)) chain.push(at)
  assert.equal(chain.length, 13)
  assert.equal((await w.call('GET', leadPath(id))).body.data.status, chain.at(-1))
})

test('an event of a lead whose phone changed shows an unmasked reader the lead without former phones', async () => {
  const w = await world()
  const { body } = await w.call('POST', leadsPath, { body: { firstName: 'Ana', phone: '5581991234567' } })
  await w.call('PATCH', leadPath(body.data.id), { body: { phone: '5581997654321' } })
  const recorded = (await w.events(body.data.id)).at(-1)
  assert.deepEqual(recorded?.payload.formerPhones, ['5581991234567'], 'it is kept for the mask')
  const { formerPhones: _, ...shown } = recorded?.payload ?? {}
  const feed = await w.call('GET', '/api/v1/events', { query: { events: 'lead.updated' } })
  assert.deepEqual(feed.body.events.at(-1).payload, shown)
})
