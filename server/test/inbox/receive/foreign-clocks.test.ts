import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { addAgent, customerMessage, type InboxWorld, inboxWorld, marina } from '../../support/inbox/inbox-world.ts'

/** Records a message that another app sent on the same number. */
async function echoed(w: InboxWorld, fields: object) {
  const { value: key } = await addAgent(w)
  const body = { connection_id: w.connectionId, to: marina.phone, external_id: randomUUID(), kind: 'text', ...fields }
  return w.call('POST', '/api/v1/inbox/echoes', { key, body })
}

test("a message after an answer waits and is sorted after it, whatever the platform's clock says", async () => {
  for (const behindMs of [42, 1_000, 60_000, 3_600_000]) {
    const w = await inboxWorld()
    const conversation = await w.customerWrites('a question')
    w.clock.advance(2 * 3_600_000)
    assert.equal((await echoed(w, { body: 'an answer' })).status, 202)
    w.clock.advance(40)
    for (const text of ['another question', 'and one more']) {
      await w.deliver(customerMessage({ at: new Date(w.clock.now().getTime() - behindMs), text }))
    }
    const [row] = await w.db
      .sql`select unanswered_since is null as is_answered from conversations where id = ${conversation.id}`
    assert.equal(row?.is_answered, false, `${behindMs} ms behind`)
    const texts = (await w.messages(conversation.id)).map((message) => message.text)
    // A message older than the tolerated clock skew keeps its position.
    const expected =
      behindMs < 300_000
        ? ['a question', 'an answer', 'another question', 'and one more']
        : ['a question', 'another question', 'and one more', 'an answer']
    assert.deepEqual(texts, expected, `${behindMs} ms behind`)
  }
})

test('no foreign clock puts a conversation into the future', async () => {
  const w = await inboxWorld()
  await w.deliver(customerMessage({ at: w.clock.now(), text: 'now' }))
  w.clock.advance(1000)
  const answer = (occurred_at: string) => echoed(w, { body: 'x', occurred_at })
  const far = await answer('2030-01-01T00:00:00Z')
  assert.deepEqual([far.status, far.body.data.issues[0].path], [400, 'occurred_at'])
  assert.equal((await answer(new Date(w.clock.now().getTime() + 60_000).toISOString())).status, 202)
  const [conversation] = await w.conversations()
  assert.equal(conversation.last_message_at <= w.clock.now().toISOString(), true)
})
