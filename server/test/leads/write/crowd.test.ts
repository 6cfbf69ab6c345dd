import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { leadsPath, quotaUsed } from '../../support/leads/leads.ts'
import { makeTokens } from '../../support/tokens.ts'
import { type World, world } from '../../support/world.ts'

const name = fc.constantFrom('a', 'b', 'c', 'd')
const fields = fc.record(
  {
    firstName: fc.constantFrom('Ana', 'Bia', 'Carla'),
    uniqueCode: name,
    externalRef: fc.option(name, { nil: null, freq: 4 }),
    phone: fc.constantFrom('5581991234567', '558191234567', '5215512345678'),
    status: fc.constantFrom('new', 'won', 'lost'),
  },
  { requiredKeys: ['firstName'] },
)
const upsert = fc.record({
  match: fc.oneof(
    fc.record({ by: fc.constantFrom('uniqueCode', 'externalRef'), value: name }),
    fc.record({ by: fc.constant('phone'), value: fc.constantFrom('5581991234567', '525512345678') }),
  ),
  lead: fields,
})
const call = fc.oneof(
  fc.record({ method: fc.constant('POST' as const), path: fc.constant(leadsPath), body: fields }),
  fc.record({ method: fc.constant('PATCH' as const), path: name.map((one) => `${leadsPath}/${one}`), body: fields }),
  fc.record({ method: fc.constant('DELETE' as const), path: name.map((one) => `${leadsPath}/${one}`) }),
  fc.record({ method: fc.constant('POST' as const), path: fc.constant(`${leadsPath}/upsert`), body: upsert }),
  fc.record({
    method: fc.constant('POST' as const),
    path: fc.constant(`${leadsPath}/bulk-upsert`),
    body: fc.record({ items: fc.array(upsert, { minLength: 2, maxLength: 8 }) }),
  }),
  fc.record({ method: fc.constant('GET' as const), path: fc.constant(`${leadsPath}?search=ana&limit=3`) }),
)

async function restoreSome(w: World): Promise<number[]> {
  const deleted = await w.db.sql<{ id: string }[]>`
    select id
    from leads
    where workspace_id = ${w.workspaceId}
      and deleted_at is not null
    limit 4`
  const answers = await Promise.all(deleted.map(({ id }) => w.call('POST', `${leadsPath}/${id}/restore`)))
  return answers.map((answer) => answer.status)
}

test('a crowd that creates, changes, upserts, deletes and restores the same few names gets no 5xx and leaves no contradiction', async () => {
  const w = await world()
  const statuses = new Set<number>()
  let created = 0
  for (const calls of fc.sample(fc.array(call, { minLength: 24, maxLength: 24 }), { numRuns: 12, seed: 3 })) {
    const answers = await Promise.all([
      ...calls.map(async (one) => {
        const { status, body } = await w.call(one.method, one.path, 'body' in one ? { body: one.body } : {})
        assert.ok(status < 500, `${status} ${JSON.stringify([one, body])}`)
        created += body.created ?? (status === 201 || body.action === 'created' ? 1 : 0)
        return [status]
      }),
      restoreSome(w),
      makeTokens(w),
    ])
    for (const status of answers.flat()) if (status !== undefined) statuses.add(status)
    w.clock.advance(1)
  }
  for (const expected of [200, 201, 404, 409]) assert.ok(statuses.has(expected), String(expected))
  assert.deepEqual(
    [...statuses].filter((status) => ![200, 201, 404, 409].includes(status)),
    [],
  )
  await makeTokens(w)
  await assertSound(w, created)
})

async function assertSound(w: World, created: number): Promise<void> {
  const { db, workspaceId } = w
  assert.equal(await quotaUsed(w), created)
  const rows = await db.sql<{ id: string; status: string; is_live: boolean; has_tokens: boolean }[]>`
    select l.id, l.status, l.deleted_at is null as is_live, s.lead_id is not null as has_tokens
    from leads l
    left join lead_search s on s.workspace_id = l.workspace_id and s.lead_id = l.id
    where l.workspace_id = ${workspaceId}`
  assert.equal(rows.length, created)
  for (const row of rows) {
    assert.equal(row.has_tokens, row.is_live)
    const events = await w.events(row.id)
    assert.equal(events.filter((event) => event.name === 'lead.created').length, 1)
    const last = events.at(-1)
    assert.equal(last?.name === 'lead.deleted', !row.is_live)
    assert.equal(last?.payload.status, row.status)
    // Every status that an event left is the one that the next event says was before.
    let status = events[0]?.payload.status
    for (const { payload } of events.slice(1)) {
      assert.equal(payload.previousStatus ?? payload.status, status)
      status = payload.status
    }
  }
}
