import assert from 'node:assert/strict'
import { test } from 'node:test'
import { removeOld } from '../../../src/app/retention.ts'
import { newId } from '../../../src/base/id.ts'
import { purgeDeletedLeads } from '../../../src/leads/write/purge.ts'
import { leadPath } from '../../support/leads/leads.ts'
import { mergeWorld } from '../../support/leads/merge-world.ts'
import { signedInMember } from '../../support/member.ts'

const phone = '5511987650001'

async function intoWorld() {
  const world = await mergeWorld(
    { firstName: 'Marina' },
    { firstName: 'Marina', lastName: 'Duarte', phone, externalRef: 'crm-2' },
  )
  const { member, merged } = world
  return {
    ...world,
    merge: async (id: string, otherId: string) => (await merged(id, otherId)).merge,
    restore: async (id: string) => assert.equal((await member.call('POST', `/leads/${id}/restore`)).status, 200),
    into: (id: string) => member.call('GET', `/leads/${id}/merged-into`),
  }
}

test('the id of a merged lead leads the team to where it is now, for as long as it is merged and that one lives; keys get a 404', async () => {
  const { w, one, two, merge, undone, restore, into } = await intoWorld()
  const { mergedAt } = await merge(one.id, two.id)
  const found = { leadId: one.id, name: 'Marina Duarte', mergedAt }
  assert.deepEqual([(await into(two.id)).status, (await into(two.id)).body], [200, found])
  assert.deepEqual((await into(two.id.toUpperCase())).body, found)
  assert.equal((await w.call('GET', leadPath(two.id))).status, 404, 'a key is told nothing')
  for (const id of [one.id, newId(w.clock.now()), two.uniqueCode, phone]) {
    assert.equal((await into(id)).status, 404, id)
  }
  const third = await w.lead({ firstName: 'M', phone: '5531990000003' })
  const second = await merge(third.id, one.id)
  assert.deepEqual((await into(two.id)).body, { ...found, leadId: third.id })
  assert.equal((await into(one.id)).body.leadId, third.id)
  await w.call('DELETE', leadPath(third.id))
  assert.equal((await into(two.id)).status, 404, 'it ended in the trash')
  await restore(third.id)
  await undone(second.id)
  assert.deepEqual((await into(two.id)).body, found)
  w.clock.advance(31 * 86_400_000)
  await removeOld(w)
  await purgeDeletedLeads(w.db, w.clock)
  const later = await signedInMember(w)
  const { body } = await later.call('GET', `/leads/${two.id}/merged-into`)
  assert.deepEqual(body, { ...found, name: null })
})

test('the id of a lead that was brought back leads nowhere else, however often it and the other were merged', async () => {
  const { w, member, one, two, merge, undone, restore, into } = await intoWorld()
  await undone((await merge(one.id, two.id)).id)
  assert.equal((await into(two.id)).status, 404)
  await merge(one.id, two.id)
  await member.call('PATCH', `/leads/${one.id}`, { externalRef: null })
  await restore(two.id)
  assert.equal((await into(two.id)).status, 404)
  // Round about: each was merged into the other, and no way ends.
  await merge(two.id, one.id)
  assert.equal((await into(one.id)).body.leadId, two.id)
  await w.call('DELETE', leadPath(two.id))
  assert.deepEqual([(await into(one.id)).status, (await into(two.id)).status], [404, 404])
})
