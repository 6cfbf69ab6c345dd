import assert from 'node:assert/strict'
import { test } from 'node:test'
import { purgeDeletedLeads } from '../../../src/leads/write/restore.ts'
import { signedInMember } from '../../support/member.ts'
import { pick } from '../../support/pick.ts'
import { testTeamToken, world } from '../../support/world.ts'

const dayMs = 86_400_000

async function withMember() {
  const w = await world()
  return { w, member: await signedInMember(w) }
}

test('the trash lists restorable leads, most recently deleted first, with the time of their destruction', async () => {
  const { w, member } = await withMember()
  const fields = { phone: '5581991234567', customFieldValues: { k_city: 'Recife' } }
  const [first, second, kept] = [await w.lead(fields), await w.lead(), await w.lead()]
  // The last created is deleted first: the order is that of the deletions.
  await member.call('DELETE', `/leads/${second.id}`)
  w.clock.advance(1000)
  await member.call('DELETE', `/leads/${first.id}`)
  const now = w.clock.now()
  const { status, body } = await member.call('GET', '/leads/trash')
  assert.equal(status, 200)
  assert.deepEqual(pick(body.leads, 'id'), [first.id, second.id])
  assert.deepEqual([body.total, body.nextCursor], [2, null])
  assert.deepEqual(body.leads[0], {
    ...first,
    customFields: body.leads[0].customFields,
    customFieldValues: { k_city: 'Recife', city: 'Recife' },
    deletedAt: now.toISOString(),
    destroyedAt: new Date(now.getTime() + 30 * dayMs).toISOString(),
  })
  await member.call('POST', `/leads/${first.id}/restore`)
  assert.deepEqual((await member.call('GET', '/leads/trash')).body.total, 1)
  assert.equal((await member.call('GET', `/leads/${kept.id}`)).status, 200)
})

test('paging through the trash returns each deleted lead once, also if deleted at the same time', async () => {
  const { w, member } = await withMember()
  const leads = [await w.lead(), await w.lead(), await w.lead(), await w.lead(), await w.lead()]
  for (const { id } of leads) await member.call('DELETE', `/leads/${id}`)
  const seen: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const { body } = await member.call('GET', `/leads/trash?limit=2${cursor && `&cursor=${cursor}`}`)
    assert.equal(body.total, 5)
    seen.push(...body.leads.map(({ id }: { id: string }) => id))
    cursor = body.nextCursor
  }
  assert.deepEqual(seen, leads.map(({ id }) => id).reverse())
  for (const wrong of ['x', 'bm9uZQ', (await member.call('GET', '/leads?limit=1')).body.nextCursor ?? 'W10']) {
    assert.equal((await member.call('GET', `/leads/trash?cursor=${wrong}`)).status, 400, wrong)
  }
})

test('after 30 days a lead is no longer in the trash, whether or not it was destroyed already', async () => {
  const { w, member } = await withMember()
  const { id } = await w.lead()
  await member.call('DELETE', `/leads/${id}`)
  const at = w.clock.now().getTime()
  // The session of the member has ended by then, so the team token is used.
  const trash = async () => {
    const path = `/api/team/v1/workspaces/${w.workspaceId}/leads/trash`
    return (await w.call('GET', path, { key: testTeamToken })).body
  }
  w.clock.set(new Date(at + 30 * dayMs - 1))
  assert.equal((await trash()).total, 1)
  w.clock.set(new Date(at + 30 * dayMs))
  assert.deepEqual(await trash(), { leads: [], total: 0, nextCursor: null })
  await purgeDeletedLeads(w.db, w.clock)
  assert.deepEqual(await trash(), { leads: [], total: 0, nextCursor: null })
})
