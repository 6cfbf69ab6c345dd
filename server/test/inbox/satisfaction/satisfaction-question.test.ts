import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../../src/base/id.ts'
import { satisfactionWorld } from './satisfaction-world.ts'

test('outside the window nobody is asked without a template, and with one its quick replies carry the score', async () => {
  const w = await satisfactionWorld()
  await w.status('resolved')
  w.wait(25 * 60)
  const day = { waitMinutes: 60 * 24 + 30 }
  await w.set(day)
  w.wait(60)
  await w.run()
  assert.deepEqual(
    (await w.stored()).map(({ status, reason }) => [status, reason]),
    [['skipped', 'WINDOW_CLOSED']],
  )

  const t = await satisfactionWorld()
  const buttons = ['Bad', 'So-so', 'Good'].map((text) => ({ type: 'QUICK_REPLY', text }))
  await t.db.sql`
    insert into templates (
      workspace_id, id, connection_id, name, language, category, status, body, parameter_count, body_only, components,
      synced_at
    )
    values (
      ${t.workspaceId}, ${newId(t.clock.now())}, ${t.connectionId}, 'how_was_it', 'en_US', 'UTILITY', 'APPROVED',
      'How was it?', 0, true, ${t.db.sql.json([{ type: 'BUTTONS', buttons }] as never)},
      ${t.clock.now()}
    )`
  const template = { name: 'how_was_it', language: 'en-US' }
  for (const [wrong, message] of [
    [{ scale: 3, template: { ...template, name: 'how_wasit' } }, /^must be an approved template in this language/],
    [{ scale: 5, template }, /^must have 5 quick replies/],
  ] as const) {
    const { status, body } = await t.admin.call('PATCH', '/satisfaction-settings', wrong)
    assert.equal(status, 400)
    assert.equal(body.data.issues[0].path, 'template.name')
    assert.match(body.data.issues[0].message, message)
  }
  await t.set({ ...day, scale: 3, template })
  await t.status('resolved')
  t.wait(60 * 24 + 31)
  await t.run()
  const sent = t.sent().at(-1)?.order.message as {
    kind: string
    inputs?: { buttons?: { value: string; type: string }[] }
  }
  assert.equal(sent.kind, 'template')
  const [rating] = await t.stored()
  assert.deepEqual(
    sent.inputs?.buttons?.map(({ type, value }) => [type, value]),
    [1, 2, 3].map((score) => ['quick_reply', `rating:${rating?.id}:${score}`]),
  )
})

test('a message of a sequence answers nothing: the question is about who answered before it', async () => {
  const w = await satisfactionWorld()
  const steps = [{ waitMinutes: 0, businessHours: false, text: 'Did it arrive?' }]
  const draft = { name: 'Follow-up', connectionId: w.connectionId, steps, endStatuses: [], formIds: [], labelIds: [] }
  const { body } = await w.admin.call('POST', '/sequences', { ...draft, forAgents: false })
  await w.reply('One more message')
  await w.db.sql`
    update messages
    set actor_type = 'system', actor_id = ${body.sequence.id}
    where id = (
      select max(id::text)::uuid from messages where workspace_id = ${w.workspaceId} and direction = 'outbound'
    )`
  await w.status('resolved')
  w.wait(11)
  await w.run()
  assert.deepEqual(
    (await w.stored()).map((one) => [one.answered_by, one.answerer_id]),
    [['user', w.member.userId]],
  )
})
