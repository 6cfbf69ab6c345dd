import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { addAgent, addLabel, inboxWorld } from '../../support/inbox/inbox-world.ts'
import { signedInMember } from '../../support/member.ts'

const path = '/inbox/conversations'

/** Creates a world with this many customers who wrote, and a member. */
async function manyWorld(count = 3) {
  const w = await inboxWorld()
  const ids: string[] = []
  for (let n = 0; n < count; n++) {
    const phone = `55119${String(80_000_000 + n)}`
    const { id } = await w.customerWrites('Hi', {
      customer: { userId: null, parentUserId: null, phone, name: `Customer ${n}` },
    })
    ids.push(id)
  }
  w.clock.advance(1000)
  const member = await signedInMember(w, 'admin')
  const batchId = randomUUID()
  const change = (changes: object, chosen: readonly string[] = ids) =>
    member.call('POST', `${path}/bulk`, { batchId, ids: chosen, changes })
  const undo = (changes: object, former: readonly object[]) =>
    member.call('POST', `${path}/bulk-undo`, { batchId, changes, former })
  const shown = async () => {
    const all = await Promise.all(ids.map((id) => member.call('GET', `${path}/${id}`)))
    return all.map(({ body }) => body.conversation)
  }
  const audit = async () =>
    (await member.call('GET', '/audit')).body.entries
      .filter(({ action }: { action: string }) => action.startsWith('conversations.'))
      .map(({ action, target, count }: { action: string; target: string; count: number }) => [action, target, count])
  return { w, ids, member, batchId, change, undo, shown, audit }
}

test('many are resolved at once, in one entry of the audit log, and reopened by the undo', async () => {
  const { ids, batchId, change, undo, shown, audit, member } = await manyWorld()
  const done = await change({ status: 'resolved' })
  assert.equal(done.status, 200)
  assert.deepEqual(done.body.conversations.map((one: { id: string }) => one.id).sort(), [...ids].sort())
  assert.ok((await shown()).every(({ status }) => status === 'resolved'))
  const { items } = (await member.call('GET', `${path}/${ids[0]}/timeline`)).body
  const [line] = items.flatMap((item: { activity?: object }) => item.activity ?? [])
  assert.deepEqual([line.kind, line.to, line.actor.id], ['status', 'resolved', member.userId])

  const undone = await undo({ status: 'resolved' }, done.body.former)
  assert.deepEqual([undone.status, undone.body.left], [200, 0])
  assert.ok((await shown()).every(({ status }) => status === 'open'))
  assert.deepEqual((await audit()).sort(), [
    ['conversations.bulk_changed', `batch:${batchId}`, 3],
    ['conversations.bulk_undone', `batch:${batchId}`, 3],
  ])
})

test('requests of one selection are one entry of the audit log; unchanged conversations are not counted', async () => {
  const { ids, batchId, change, audit } = await manyWorld()
  await change({ status: 'resolved' }, ids.slice(0, 2))
  const second = await change({ status: 'resolved' }, ids.slice(1))
  assert.deepEqual(
    second.body.former.map((one: { id: string }) => one.id),
    ids.slice(2),
  )
  assert.equal(second.body.conversations.length, 2)
  await change({ status: 'resolved' })
  assert.deepEqual(await audit(), [['conversations.bulk_changed', `batch:${batchId}`, 3]])
})

test('labels are added to and removed from existing ones, and undo restores exactly these', async () => {
  const { w, ids, member, change, undo, shown } = await manyWorld(2)
  const [vip, late, mine] = await Promise.all(['VIP', 'Late', 'Mine'].map((name) => addLabel(w, name)))
  await member.call('PATCH', `${path}/${ids[0]}`, { labelIds: [late, mine] })
  await member.call('PATCH', `${path}/${ids[1]}`, { labelIds: [vip] })
  const changes = { addLabelIds: [vip], removeLabelIds: [late] }
  const done = await change(changes)
  assert.deepEqual(
    (await shown()).map(({ labelIds }) => labelIds),
    [[mine, vip], [vip]],
  )
  assert.equal((await undo(changes, done.body.former)).body.left, 0)
  assert.deepEqual(
    (await shown()).map(({ labelIds }) => [...labelIds].sort()),
    [[late, mine].sort(), [vip]],
  )
})

test('many are assigned, marked read or unread, and snoozed with a time', async () => {
  const { w, member, change, undo, shown } = await manyWorld(2)
  const look = async (field: string) => (await shown()).map((one) => one[field])
  const assigned = await change({ assignedTo: member.userId })
  assert.deepEqual(await look('assignedTo'), [member.userId, member.userId])
  await undo({ assignedTo: member.userId }, assigned.body.former)
  assert.deepEqual(await look('assignedTo'), [null, null])

  await w.customerWrites('Hello?', {
    customer: { userId: null, parentUserId: null, phone: '5511980000000', name: null },
  })
  const read = await change({ read: true })
  assert.deepEqual(await look('unreadCount'), [0, 0])
  await undo({ read: true }, read.body.former)
  assert.deepEqual(await look('unreadCount'), [2, 1])
  await change({ read: true })
  await change({ read: false })
  assert.deepEqual(await look('unreadCount'), [1, 1])

  const snoozedUntil = new Date(w.clock.now().getTime() + 3_600_000).toISOString()
  await change({ status: 'snoozed', snoozedUntil })
  assert.deepEqual(await look('snoozedUntil'), [snoozedUntil, snoozedUntil])
})

test('undo does not assign a former member or restore a deleted label', async () => {
  const { w, ids, member, change, undo, shown } = await manyWorld(1)
  const label = await addLabel(w, 'Old')
  const leaver = await signedInMember(w)
  await member.call('PATCH', `${path}/${ids[0]}`, { assignedTo: leaver.userId, labelIds: [label] })
  const changes = { assignedTo: member.userId, removeLabelIds: [label] }
  const done = await change(changes)
  await w.db.sql`delete from members where workspace_id = ${w.workspaceId} and user_id = ${leaver.userId}`
  await member.call('DELETE', `/labels/${label}`)
  const undone = await undo(changes, done.body.former)
  assert.deepEqual([undone.status, undone.body.left], [200, 1])
  const [one] = await shown()
  assert.deepEqual([one.assignedTo, one.labelIds], [member.userId, []])
})

test('conversations of another workspace, or that do not exist, are skipped', async () => {
  const { ids, member, batchId, change, shown } = await manyWorld(1)
  const other = await manyWorld(1)
  const unknown = randomUUID()
  const done = await member.call('POST', `${path}/bulk`, {
    batchId,
    ids: [...ids, ...other.ids, unknown],
    changes: { status: 'closed' },
  })
  assert.deepEqual(
    done.body.conversations.map((one: { id: string }) => one.id),
    ids,
  )
  assert.equal((await other.shown())[0].status, 'open')
  const undone = await other.undo({ status: 'closed' }, done.body.former)
  assert.deepEqual([undone.body.conversations, undone.body.left], [[], 1])
  assert.equal((await shown())[0].status, 'closed')
  assert.deepEqual((await change({ status: 'closed' }, [unknown])).body, { conversations: [], former: [] })
})

const refused: [what: string, changes: object, field: string][] = [
  ['nothing', {}, 'changes'],
  ['a time without a snooze', { snoozedUntil: '2099-01-01T00:00:00Z' }, 'changes.snoozedUntil'],
  ['a time in the past', { status: 'snoozed', snoozedUntil: '2020-01-01T00:00:00Z' }, 'changes.snoozedUntil'],
  ['a non-member', { assignedTo: randomUUID() }, 'changes.assignedTo'],
  ['an unknown label', { addLabelIds: [randomUUID()] }, 'changes.addLabelIds'],
  ['an unknown field', { owner: 'human' }, 'changes'],
]

test('an invalid change is 400, names the field, and changes nothing', async () => {
  const { change, shown } = await manyWorld(1)
  for (const [what, changes, field] of refused) {
    const { status, body } = await change(changes)
    assert.equal(status, 400, what)
    assert.ok(body.data.issues[0].path.startsWith(field), `${what}: ${body.data.issues[0].path}`)
  }
  assert.equal((await shown())[0].status, 'open')
})

test('at most 50 per request, and not for keys of agents', async () => {
  const { w, ids, change } = await manyWorld(1)
  const tooMany = Array.from({ length: 51 }, () => randomUUID())
  assert.equal((await change({ read: true }, tooMany)).status, 400)
  assert.equal((await change({ read: true }, [])).status, 400)
  const { status } = await w.app
    .inject({
      method: 'POST',
      url: `/api/team/v1/workspaces/${w.workspaceId}${path}/bulk`,
      headers: { authorization: `Bearer ${(await addAgent(w)).value}` },
      payload: { batchId: randomUUID(), ids, changes: { read: true } },
    })
    .then(({ statusCode }) => ({ status: statusCode }))
  assert.equal(status, 401)
})

test('many move to a team, whose rule assigns them in turn; the undo brings back team, assignee and priority', async () => {
  const { w, ids, member, change, undo, shown } = await manyWorld(4)
  const [ana, bea, cy] = [await signedInMember(w), await signedInMember(w), await signedInMember(w)]
  const makeTeam = async (name: string, memberIds: string[], assignment: string) =>
    (await member.call('POST', '/teams', { name, memberIds, assignment })).body.team.id as string
  const from = await makeTeam('Desk', [cy.userId], 'manual')
  const to = await makeTeam('Sales', [ana.userId, bea.userId], 'round_robin')
  await change({ teamId: from, priority: 'low' })
  for (const [id, userId] of [
    [ids[0], cy.userId],
    [ids[1], bea.userId],
  ])
    await member.call('PATCH', `${path}/${id}`, { assignedTo: userId })
  const changes = { teamId: to, priority: 'urgent' }
  const done = await change(changes)
  assert.equal(done.status, 200, JSON.stringify(done.body))
  const moved = await shown()
  assert.ok(moved.every(({ teamId, priority }) => teamId === to && priority === 'urgent'))
  assert.equal(moved[1].assignedTo, bea.userId, 'a member of the team keeps it')
  const given = [moved[0], moved[2], moved[3]].map(({ assignedTo }) => assignedTo)
  assert.deepEqual([...new Set(given)].toSorted(), [ana.userId, bea.userId].toSorted(), 'in turn')
  const noticesOf = async (one: typeof ana) =>
    (await one.call('GET', '/notices')).body.notices.filter(({ kind }: { kind: string }) => kind === 'assigned')
  const notified = (await noticesOf(ana)).length + (await noticesOf(bea)).length
  assert.equal(notified, 4, 'three now, and the one of before: each once')

  // One is taken by another person meanwhile.
  await member.call('PATCH', `${path}/${ids[3]}`, { assignedTo: cy.userId })
  const undone = await undo(changes, done.body.former)
  assert.deepEqual([undone.status, undone.body.left], [200, 1], JSON.stringify(undone.body))
  const back = await shown()
  assert.ok(back.every(({ teamId, priority }) => teamId === from && priority === 'low'))
  assert.deepEqual(
    back.map(({ assignedTo }) => assignedTo),
    [cy.userId, bea.userId, null, cy.userId],
  )
  const unknown = await change({ teamId: randomUUID() })
  assert.deepEqual([unknown.status, unknown.body.data.issues[0].path], [400, 'changes.teamId'])
})
