import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deleteExpiredRows } from '../../../src/app/erasure.ts'
import { purgeDeletedLeads } from '../../../src/leads/write/restore.ts'
import { mergeWorld } from '../../support/leads/merge-world.ts'
import { signedInMember, type TestMember } from '../../support/member.ts'
import { pick } from '../../support/pick.ts'

const dayMs = 86_400_000

interface Entry {
  id: string
  at: string
  kind: string
  actor: { type: string; id: string } | null
  partOf: string | null
  changes: { field: string; from: unknown; to: unknown }[]
  merge: { otherId: string; otherName: string | null; undoUntil: string | null; undone: object | null } | null
}

async function timelineWorld() {
  const world = await mergeWorld(
    { firstName: 'Marina', notes: 'Prefers mornings' },
    { firstName: 'Marina', lastName: 'Duarte', customFieldValues: { city: 'Recife' } },
  )
  const { w, merged } = world
  const colleague = await signedInMember(w)
  const merge = async (id: string, otherId: string): Promise<string> => {
    w.clock.advance(60_000)
    return (await merged(id, otherId)).merge.id
  }
  const undo = async (id: string) => {
    w.clock.advance(60_000)
    assert.equal((await colleague.call('POST', `/lead-merges/${id}/undo`)).status, 200)
  }
  return { ...world, colleague, merge, undo }
}

async function read(member: TestMember, id: string, query = ''): Promise<Entry[]> {
  const { status, body } = await member.call('GET', `/leads/${id}/timeline${query}`)
  assert.equal(status, 200, JSON.stringify(body))
  return body.entries
}

const kindsOf = (entries: readonly Entry[]) =>
  entries.map(({ kind, partOf }) => (partOf === null ? kind : `${kind} ${partOf.split(':')[0]}`))

test('a merge is one timeline entry: other lead, author, changes, and until when it can be undone', async () => {
  const { w, member, one, two, merge } = await timelineWorld()
  const id = await merge(one.id, two.id)
  const [line, ...rest] = await read(member, one.id)
  assert.deepEqual(kindsOf(rest), ['created'])
  assert.deepEqual(
    [line?.id, line?.kind, line?.at, line?.actor],
    [id, 'merged', w.clock.now().toISOString(), { type: 'user', id: member.userId }],
  )
  assert.deepEqual(pick(line?.changes, 'field', 'from', 'to'), [
    ['lastName', null, 'Duarte'],
    ['field:city', null, 'Recife'],
  ])
  assert.deepEqual(line?.merge, {
    otherId: two.id,
    otherName: 'Marina Duarte',
    undoUntil: new Date(w.clock.now().getTime() + 30 * dayMs).toISOString(),
    undone: null,
  })
})

test('an undo is shown with its merge and the reverted fields; the other lead shows its deletion and restore', async () => {
  const { w, member, colleague, one, two, merge, undo } = await timelineWorld()
  await undo(await merge(one.id, two.id))
  const entries = await read(member, one.id)
  assert.deepEqual(kindsOf(entries), ['fields unmerge', 'merged', 'created'])
  assert.deepEqual(pick(entries[0]?.changes, 'field', 'from', 'to'), [
    ['lastName', 'Duarte', null],
    ['field:city', 'Recife', null],
  ])
  assert.deepEqual(entries[1]?.merge, {
    otherId: two.id,
    otherName: 'Marina Duarte',
    undoUntil: null,
    undone: { at: w.clock.now().toISOString(), actor: { type: 'user', id: colleague.userId } },
  })
  assert.deepEqual(kindsOf(await read(member, two.id)), ['restored unmerge', 'deleted merge', 'created'])
})

test('after 30 days the entry stays, without the name and the values of the other lead', async () => {
  const { w, one, two, merge } = await timelineWorld()
  const id = await merge(one.id, two.id)
  w.clock.advance(31 * dayMs)
  await deleteExpiredRows(w)
  await purgeDeletedLeads(w.db, w.clock)
  const [line] = await read(await signedInMember(w), one.id, '?kind=merges')
  assert.deepEqual([line?.id, line?.changes], [id, []])
  assert.deepEqual(line?.merge, { otherId: two.id, otherName: null, undoUntil: null, undone: null })
})
