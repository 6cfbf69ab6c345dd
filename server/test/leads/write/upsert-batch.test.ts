import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addMember, eventCounts, leadPath, leadsPath, quotaUsed } from '../../support/leads/leads.ts'
import { type Answer, type World, world } from '../../support/world.ts'

const create = (w: World, body: object) => w.call('POST', leadsPath, { body: { firstName: 'Ana', ...body } })

const upsert = (w: World, value: string, lead: object) =>
  w.call('POST', `${leadsPath}/upsert`, { body: { match: { by: 'externalRef', value }, lead } })

const statusesOf = (answers: readonly Answer[]) => answers.map(({ status }) => status)

test('concurrent creates each get their own response: 201, 409 or 400, regardless of the others', async () => {
  const w = await world()
  await w.lead({ externalRef: 'taken' })
  const assignedTo = await addMember(w)
  const stranger = '00000000-0000-7000-8000-000000000000'
  const kinds = [{}, { assignedTo }, { externalRef: 'taken' }, { assignedTo: stranger }, { uniqueCode: 'TWICE' }]
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, n) => create(w, { lastName: `Number ${n}`, ...kinds[n % 5] })),
  )
  const ofKind = (kind: number) => answers.filter((_, n) => n % 5 === kind)
  assert.deepEqual(statusesOf(ofKind(0)), Array(12).fill(201))
  assert.deepEqual(statusesOf(ofKind(1)), Array(12).fill(201))
  assert.deepEqual(statusesOf(ofKind(2)), Array(12).fill(409))
  assert.deepEqual(statusesOf(ofKind(3)), Array(12).fill(400))
  assert.deepEqual(statusesOf(ofKind(4)).sort(), [201, ...Array(11).fill(409)])
  assert.deepEqual(new Set(ofKind(2).map(({ body }) => body.data.field)), new Set(['externalRef']))

  for (const [n, { status, body }] of answers.entries()) {
    if (status !== 201) continue
    assert.equal(body.data.lastName, `Number ${n}`)
    assert.deepEqual((await w.call('GET', leadPath(body.data.id))).body.data, body.data)
    assert.deepEqual(await w.events(body.data.id), [{ name: 'lead.created', payload: body.data }])
    const found = await w.call('GET', leadsPath, { query: { search: `Number ${n}` } })
    assert.ok(found.body.data.some((lead: { id: string }) => lead.id === body.data.id))
  }
  assert.deepEqual(await eventCounts(w), { 'lead.created': 26 })
  assert.equal(await quotaUsed(w), 26)
})

test('a lead that cannot be read fails its own upsert only', async () => {
  const w = await world()
  const refs = Array.from({ length: 30 }, (_, n) => `crm-${n}`)
  for (const externalRef of refs) await w.lead({ externalRef })
  await w.db.sql`
    update leads
    set person = ${Buffer.alloc(100, 1)}
    where workspace_id = ${w.workspaceId}
      and external_ref = 'crm-7'`
  const answers = await Promise.all(refs.map((ref) => upsert(w, ref, { status: 'won' })))
  for (const [n, { status, body }] of answers.entries()) {
    assert.equal(status, n === 7 ? 500 : 200)
    if (n !== 7) assert.equal(body.data.status, 'won')
  }
  assert.deepEqual(await eventCounts(w), { 'lead.created': 30, 'lead.updated': 29 })
})

test('concurrent upserts of two keys each have their own author in the history', async () => {
  const w = await world()
  const other = await w.addKey({ scopes: ['leads.write'] })
  const refs = Array.from({ length: 20 }, (_, n) => `crm-${n}`)
  for (const externalRef of refs) await w.lead({ externalRef })
  const keys = [
    w,
    {
      ...w,
      call: (...[method, path, options]: Parameters<World['call']>) =>
        w.call(method, path, { ...options, key: other.value }),
    },
  ]
  await Promise.all(refs.map((ref, n) => upsert(keys[n % 2] ?? w, ref, { status: 'won' })))
  const changes = await w.db.sql<{ ref: string; actor: string }[]>`
    select l.external_ref as ref, c.actor_id as actor
    from lead_status_changes c
    join leads l on l.workspace_id = c.workspace_id and l.id = c.lead_id
    where c.workspace_id = ${w.workspaceId}`
  const actorOf = new Map(changes.map(({ ref, actor }) => [ref, actor]))
  assert.deepEqual(
    refs.map((ref) => actorOf.get(ref)),
    refs.map((_, n) => (n % 2 === 0 ? w.keyId : other.id)),
  )
})
