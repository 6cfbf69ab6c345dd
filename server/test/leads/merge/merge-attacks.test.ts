import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deleteExpiredRows } from '../../../src/app/erasure.ts'
import { newId } from '../../../src/base/id.ts'
import { purgeDeletedLeads } from '../../../src/leads/write/restore.ts'
import { leadPath } from '../../support/leads/leads.ts'
import { mergeWorld, phones } from '../../support/leads/merge-world.ts'
import { signedInMember } from '../../support/member.ts'

test('a lead given by two of its names is not merged with itself', async () => {
  const { merge, one, w } = await mergeWorld()
  for (const name of [one.id, one.id.toUpperCase(), one.uniqueCode, phones.one, `+${phones.one}`]) {
    const answer = await merge(encodeURIComponent(name), one.id.toUpperCase())
    assert.deepEqual([answer.status, answer.body.data?.issues[0].path], [400, 'otherId'], name)
  }
  assert.equal((await w.call('GET', leadPath(one.id))).status, 200)
})

test('a deleted lead cannot be merged; a lead restored from a merge is not changed by an undo', async () => {
  const { w, member, merge, undo, one, two, shown } = await mergeWorld()
  await w.call('DELETE', leadPath(two.id))
  for (const [id, otherId] of [
    [one.id, two.id],
    [two.id, one.id],
  ] as const) {
    assert.equal((await merge(id, otherId)).status, 404)
  }
  assert.equal((await member.call('POST', `/leads/${two.id}/restore`)).status, 200)
  const done = await merge(one.id, two.id)
  assert.equal(done.status, 200)
  const taken = await member.call('POST', `/leads/${two.id}/restore`)
  assert.deepEqual([taken.status, taken.body.data], [409, { field: 'externalRef' }], 'the kept one has its reference')
  await member.call('PATCH', `/leads/${one.id}`, { externalRef: 'one' })
  assert.equal((await member.call('POST', `/leads/${two.id}/restore`)).status, 200)
  await member.call('PATCH', `/leads/${two.id}`, { lastName: 'Changed' })
  const undone = await undo(done.body.merge.id)
  assert.deepEqual([undone.status, undone.body.merge.left], [200, ['externalRef']], JSON.stringify(undone.body))
  const [kept, back] = [await shown(one.id), await shown(two.id)]
  assert.deepEqual([kept.lastName, kept.externalRef], [null, 'one'])
  assert.deepEqual([back.lastName, back.externalRef], ['Changed', 'two'])
  assert.equal((await shown(phones.two)).id, two.id)
})

test('two merges into one lead can each be undone, in either order, completely', async () => {
  for (const order of [
    [0, 1],
    [1, 0],
  ]) {
    const { w, merge, undo, one, shown } = await mergeWorld()
    const with_ = (n: number) => ({ notes: `note ${n}`, customFieldValues: { [`field_${n}`]: `value ${n}` } })
    const others = [
      await w.lead({ ...with_(1), firstName: 'First', lastName: 'Came first', phone: '5531990000001' }),
      await w.lead({ ...with_(2), firstName: 'Second', email: 'second@example.com', phone: '5531990000002' }),
    ]
    const before = { ...(await shown(one.id)), updatedAt: null }
    const merges: string[] = []
    for (const { id } of others) {
      w.clock.advance(1000)
      merges.push((await merge(one.id, id)).body.merge.id)
    }
    for (const n of order) assert.equal((await undo(merges[n] ?? '')).status, 200)
    assert.deepEqual({ ...(await shown(one.id)), updatedAt: null }, before, order.join())
    for (const [n, { id }] of others.entries()) {
      const back = await shown(id)
      assert.deepEqual(
        [back.notes, back.customFieldValues],
        [`note ${n + 1}`, { [`field_${n + 1}`]: `value ${n + 1}` }],
      )
    }
  }
})

test('team notes move with a merge, and back with its undo, except notes written afterwards', async () => {
  const { member, merge, undo, one, two } = await mergeWorld()
  const note = (id: string, text: string) => member.call('POST', `/leads/${id}/notes`, { text })
  const notes = async (id: string) =>
    (await member.call('GET', `/leads/${id}/timeline?kind=notes`)).body.entries.map(
      ({ text }: { text: string }) => text,
    )
  await note(one.id, 'of one')
  await note(two.id, 'of two')
  const done = await merge(one.id, two.id)
  await note(one.id, 'of both')
  assert.deepEqual(await notes(one.id), ['of both', 'of two', 'of one'])
  assert.equal((await undo(done.body.merge.id)).status, 200)
  assert.deepEqual([await notes(one.id), await notes(two.id)], [['of both', 'of one'], ['of two']])
})

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

test('people can find where a merged lead is now, while the merge stands and that lead is live; API keys get 404', async () => {
  const { w, one, two, merge, undone, restore, into } = await intoWorld()
  const { mergedAt } = await merge(one.id, two.id)
  const found = { leadId: one.id, name: 'Marina Duarte', mergedAt }
  assert.deepEqual([(await into(two.id)).status, (await into(two.id)).body], [200, found])
  assert.deepEqual((await into(two.id.toUpperCase())).body, found)
  assert.equal((await w.call('GET', leadPath(two.id))).status, 404, 'a key learns nothing')
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
  await deleteExpiredRows(w)
  await purgeDeletedLeads(w.db, w.clock)
  const later = await signedInMember(w)
  const { body } = await later.call('GET', `/leads/${two.id}/merged-into`)
  assert.deepEqual(body, { ...found, name: null })
})

test('the id of a restored lead points to no other lead, however often the two were merged', async () => {
  const { w, member, one, two, merge, undone, restore, into } = await intoWorld()
  await undone((await merge(one.id, two.id)).id)
  assert.equal((await into(two.id)).status, 404)
  await merge(one.id, two.id)
  await member.call('PATCH', `/leads/${one.id}`, { externalRef: null })
  await restore(two.id)
  assert.equal((await into(two.id)).status, 404)
  // A cycle: each was merged into the other, so no chain ends.
  await merge(two.id, one.id)
  assert.equal((await into(one.id)).body.leadId, two.id)
  await w.call('DELETE', leadPath(two.id))
  assert.deepEqual([(await into(one.id)).status, (await into(two.id)).status], [404, 404])
})
