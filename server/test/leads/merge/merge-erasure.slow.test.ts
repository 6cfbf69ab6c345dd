import assert from 'node:assert/strict'
import { test } from 'node:test'
import { erasureDeps } from '../../../src/app/erasure.ts'
import { startErasure } from '../../../src/erasure/erasure-routes.ts'
import { runErasure } from '../../../src/erasure/run.ts'
import { runImports } from '../../../src/leads/transfer/import/run-import.ts'
import type { Member } from '../../../src/team/member.ts'
import { afterStep } from '../../support/after-step.ts'
import { dumpDatabase, type ErasureWorld, erasureWorld } from '../../support/erasure-world.ts'
import { uploadFile } from '../../support/leads/import-world.ts'
import { leadPath } from '../../support/leads/leads.ts'
import { testTeamToken } from '../../support/world.ts'

const word = 'zyxmarina'

/** Person without phone and e-mail, so that only the merge connects the two leads. */
async function pairWorld() {
  const w = await erasureWorld()
  const person = await w.lead({
    firstName: word,
    lastName: 'Duarte',
    notes: `${word} wants a call`,
    customFieldValues: { city: `${word} city` },
  })
  await w.call('PATCH', leadPath(person.id), { body: { status: 'contacted' } })
  await w.admin.call('POST', `/leads/${person.id}/notes`, { text: `${word} likes mornings` })
  const other = await w.lead({ firstName: 'Bruno', externalRef: 'bruno' })
  return {
    w,
    person: person.id,
    other: other.id,
    merge: (keptId: string, otherId: string) => w.admin.call('POST', `/leads/${keptId}/merge`, { otherId }),
    undo: (id: string) => w.admin.call('POST', `/lead-merges/${id}/undo`),
    /** Erases the person, and runs something else after this number of steps. */
    erasing: async (steps: number, act: () => Promise<unknown>) => {
      const plain = erasureDeps(w)
      const begun = await startErasure(plain, memberOf(w), { leadId: person.id })
      let seen = 0
      const step = afterStep(async (name) => {
        if (name === 'commit' && seen++ === steps) await act()
      })
      if (steps < 0) await act()
      const row = await runErasure({ ...plain, step }, w.workspaceId, begun.id, 60_000)
      assert.equal(row?.state, 'done')
      return seen
    },
  }
}

const memberOf = ({ workspaceId, admin }: ErasureWorld) =>
  ({
    workspaceId,
    actor: { type: 'user', id: admin.userId },
    workspace: { defaultCountry: null },
  }) as Member

async function leftOf(w: ErasureWorld): Promise<string[]> {
  const lines = await dumpDatabase(w)
  return lines.flatMap(({ table, text }) => (text.toLowerCase().includes(word) ? `${table} ${text}` : []))
}

/** Runs the test once per step of the erasure, with something else after that step. */
async function atEachStep(act: (pair: Awaited<ReturnType<typeof pairWorld>>, at: number) => Promise<number>) {
  let last = 0
  for (let at = -1; at < 60; at++) {
    const pair = await pairWorld()
    last = await act(pair, at)
    assert.deepEqual(await leftOf(pair.w), [], `behind step ${at} of ${last}`)
    if (at >= last) return
  }
  assert.fail(`${last} steps`)
}

for (const [title, isKept] of [
  ['a merge into another lead', false],
  ['a merge of another lead into it', true],
] as const) {
  test(`${title}, after any step of the erasure of a lead, leaves no data of it`, async () => {
    await atEachStep(async ({ w, person, other, merge, erasing }, at) => {
      let status = 0
      const steps = await erasing(at, async () => {
        status = (await (isKept ? merge(person, other) : merge(other, person))).status
      })
      assert.ok(at >= steps || status === 200 || status === 404, String(status))
      // A lead merged with the customer before the erasure reached it is the customer; later it is someone else.
      const kept = (await w.call('GET', leadPath(other))).status
      assert.equal(kept, status === 200 ? 404 : 200, `behind step ${at}`)
      return steps
    })
  })
}

test('an undo of a merge, after any step of the erasure of either lead, restores no one', async () => {
  await atEachStep(async ({ w, person, other, merge, undo, erasing }, at) => {
    const { body } = await merge(other, person)
    let status = 0
    const steps = await erasing(at, async () => {
      status = (await undo(body.merge.id)).status
    })
    assert.ok(at >= steps || status === 200 || status === 404 || status === 409, String(status))
    for (const id of [person, other]) assert.equal((await w.call('GET', leadPath(id))).status, 404, `behind step ${at}`)
    return steps
  })
})

test('erasing a lead that was merged by mistake removes it from the events, changes and imports of the other, which stays', async () => {
  const { w, person, other, merge, undo } = await pairWorld()
  w.clock.advance(1000)
  const merged = await merge(other, person)
  assert.equal(merged.status, 200)
  w.clock.advance(1000)
  // An import that changes a value of the erased lead, and records it for its undo.
  const path = `/api/team/v1/workspaces/${w.workspaceId}/lead-imports`
  const importId = await uploadFile(w, 'name,externalRef,notes\nBruno,bruno,Called\n')
  await w.call('POST', `${path}/${importId}/start`, { key: testTeamToken, body: { match: 'externalRef' } })
  await runImports(w, new AbortController().signal)
  w.clock.advance(1000)
  await w.drain()
  assert.equal((await undo(merged.body.merge.id)).status, 200)
  await w.call('PATCH', leadPath(other), { body: { priority: 'urgent' } })
  await w.drain()
  const { body } = await w.erase({ leadId: person })
  assert.equal(body.erasure.state, 'done')
  assert.deepEqual(await leftOf(w), [])
  const { data } = (await w.call('GET', leadPath(other))).body
  assert.deepEqual([data.firstName, data.lastName, data.notes, data.priority], ['Bruno', null, 'Called', 'urgent'])
  const events = (await w.events(other)).map(({ name }) => name)
  assert.deepEqual(events, ['lead.created', 'lead.updated', 'lead.updated'], 'what came before and afterwards stays')
})
