import assert from 'node:assert/strict'
import { test } from 'node:test'
import { remindDueTasks } from '../../src/tasks/due-tasks.ts'
import { agentsWorld } from '../support/agents/agents-world.ts'
import { signedInMember, type TestMember } from '../support/member.ts'

const hourMs = 3_600_000

async function tasksWorld() {
  const w = await agentsWorld()
  const member = await signedInMember(w)
  const at = (hours: number) => new Date(w.clock.now().getTime() + hours * hourMs).toISOString()
  const create = (fields: object = {}, by: TestMember = member) =>
    by.call('POST', '/tasks', { title: 'Call about the quote', dueAt: at(1), ...fields })
  return { ...w, member, at, create, run: () => remindDueTasks(w) }
}

const titlesOf = async (member: TestMember, query = '') =>
  (await member.call('GET', `/tasks${query}`)).body.tasks.map((one: { title: string }) => one.title)

const remindersOf = async (member: TestMember) =>
  (await member.call('GET', '/notices')).body.notices.filter((one: { kind: string }) => one.kind === 'task').length

test('a task reminds its person once for each due time, on whichever node, and not once it is done', async () => {
  const w = await tasksWorld()
  const other = await signedInMember(w)
  const { body } = await w.create({ assignedTo: other.userId })
  const { id } = body.task
  assert.equal(body.task.assignedTo.name, 'Ana Lima')
  await w.run()
  assert.equal(await remindersOf(other), 0)
  w.clock.advance(hourMs)
  await Promise.all([w.run(), w.run(), w.run()])
  assert.deepEqual([await remindersOf(other), await remindersOf(w.member)], [1, 0])
  const dueAt = w.at(1)
  assert.equal((await w.member.call('PATCH', `/tasks/${id}`, { dueAt })).body.task.dueAt, dueAt)
  w.clock.advance(hourMs)
  await w.run()
  assert.equal(await remindersOf(other), 2)
  await w.member.call('PATCH', `/tasks/${id}`, { dueAt: w.at(1), done: true })
  w.clock.advance(hourMs)
  await w.run()
  assert.equal(await remindersOf(other), 2)
})

test('a task of nobody reminds everyone', async () => {
  const w = await tasksWorld()
  const other = await signedInMember(w)
  await w.create()
  w.clock.advance(hourMs)
  await w.run()
  assert.deepEqual([await remindersOf(w.member), await remindersOf(other)], [1, 1])
})

test('tasks are listed by due time, for one person, by subject, overdue and done, page by page', async () => {
  const w = await tasksWorld()
  const other = await signedInMember(w)
  const { id: conversationId } = await w.customerWrites('Hi')
  const { lead } = (await w.member.call('POST', '/leads', { firstName: 'Marina', lastName: 'Duarte' })).body
  await w.create({ title: 'Third', dueAt: w.at(3), assignedTo: other.userId })
  await w.create({ title: 'Second', dueAt: w.at(2), conversationId })
  const { body: first } = await w.create({
    title: 'First',
    dueAt: w.at(1),
    leadId: lead.id,
    assignedTo: w.member.userId,
  })
  assert.equal(first.task.lead.name, 'Marina Duarte')
  assert.deepEqual(await titlesOf(w.member), ['First', 'Second', 'Third'])
  assert.deepEqual(await titlesOf(w.member, '?mine=true'), ['First', 'Second'])
  assert.deepEqual(await titlesOf(w.member, `?leadId=${lead.id}`), ['First'])
  assert.deepEqual(await titlesOf(w.member, `?leadId=${lead.id}&conversationId=${conversationId}`), ['First', 'Second'])
  const { body: page } = await w.member.call('GET', '/tasks?limit=2')
  assert.deepEqual(await titlesOf(w.member, `?limit=2&cursor=${page.cursor}`), ['Third'])
  w.clock.advance(2 * hourMs)
  assert.deepEqual(await titlesOf(w.member, '?state=overdue'), ['First', 'Second'])
  await w.member.call('PATCH', `/tasks/${first.task.id}`, { done: true })
  assert.deepEqual(
    [await titlesOf(w.member, '?state=done'), await titlesOf(w.member, '?state=overdue')],
    [['First'], ['Second']],
  )
  const { entries } = (await w.member.call('GET', `/leads/${lead.id}/timeline?kind=tasks`)).body
  assert.deepEqual([entries[0].text, entries[0].task.doneAt !== null], ['First', true])
  await w.member.call('PATCH', `/tasks/${first.task.id}`, { done: false })
  assert.deepEqual(await titlesOf(w.member, '?state=overdue'), ['First', 'Second'])
  assert.equal((await w.member.call('DELETE', `/tasks/${first.task.id}`)).status, 200)
  assert.equal((await w.member.call('DELETE', `/tasks/${first.task.id}`)).status, 404)
  const { items } = (await w.member.call('GET', `/inbox/conversations/${conversationId}/timeline`)).body
  const kinds = items.flatMap(({ activity }: { activity?: { kind: string; to: string } }) =>
    activity?.kind === 'task' ? activity.to : [],
  )
  assert.deepEqual(kinds, ['created'])
})

test('what a task refers to must exist, and 200 can be open for one conversation', async () => {
  const w = await tasksWorld()
  const missing = '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e'
  assert.equal((await w.create({ conversationId: missing })).status, 404)
  assert.equal((await w.create({ leadId: missing })).status, 404)
  assert.equal((await w.create({ assignedTo: missing })).status, 400)
  assert.equal((await w.create({ dueAt: '2026-03-10' })).status, 400)
  const { id: conversationId } = await w.customerWrites('Hi')
  const { body } = await w.create({ conversationId })
  assert.equal((await w.create({ conversationId })).body.task.id, body.task.id, 'the same task is created once')
  await w.db.sql`
    insert into tasks (workspace_id, id, conversation_id, title, due_at, actor_type, actor_id, created_at)
    select workspace_id, gen_random_uuid(), conversation_id, title, due_at + n * interval '1 s', actor_type, actor_id, created_at
    from tasks, generate_series(2, 200) as n
    where workspace_id = ${w.workspaceId} and id = ${body.task.id}`
  assert.equal((await w.create({ conversationId, title: 'One more' })).status, 409)
})

test('an agent creates a task for people once', async () => {
  const w = await tasksWorld()
  const { id: conversation_id } = await w.customerWrites('Hi')
  const task = { conversation_id, title: 'Send the contract', due_at: w.at(1) }
  const { body: made } = await w.callTool('create_task', task)
  const { body: again } = await w.callTool('create_task', task)
  assert.deepEqual([made.was_new, again.was_new, again.task_id], [true, false, made.task_id])
  const { tasks } = (await w.member.call('GET', '/tasks')).body
  assert.deepEqual([tasks[0].createdBy.type, tasks[0].createdBy.name], ['agent', 'Support agent'])
})

test('merging leads moves tasks, undoing it moves them back, and deleting a lead for good deletes them', async () => {
  const w = await tasksWorld()
  const leadOf = async (firstName: string) =>
    (await w.member.call('POST', '/leads', { firstName })).body.lead.id as string
  const [kept, other] = [await leadOf('Marina'), await leadOf('Mari')]
  const { body } = await w.create({ leadId: other })
  const { body: merged } = await w.member.call('POST', `/leads/${kept}/merge`, { otherId: other })
  assert.deepEqual(await titlesOf(w.member, `?leadId=${kept}`), [body.task.title], JSON.stringify(merged))
  const { status } = await w.member.call('POST', `/lead-merges/${merged.merge.id}/undo`)
  assert.equal(status, 200)
  assert.deepEqual(await titlesOf(w.member, `?leadId=${other}`), [body.task.title])
})
