import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eraseConversation } from '../../../src/inbox/erase.ts'
import { cancelScheduled, scheduleMessage } from '../../../src/inbox/scheduled/schedule.ts'
import { sendDueMessages } from '../../../src/inbox/scheduled/send-due.ts'
import { customerMessage } from '../../support/inbox/inbox-world.ts'
import { noon, sendWorld, text } from '../../support/inbox/send-world.ts'

test('of sends on two nodes, cancels, erasures and customer messages at once, nothing is sent twice or after it was cancelled', async () => {
  const w = await sendWorld()
  const nodes = [w.node, await w.addNode()].map(({ deps }) => ({ ...deps, readAgentSender: async () => w.agent }))
  const [one] = nodes
  assert.ok(one)
  const dueAt = new Date(noon.getTime() + 60_000)
  const windowExpiresAt = new Date(noon.getTime() + 86_400_000)
  const scheduled = await Promise.all(
    Array.from({ length: 16 }, async (_, n) => {
      const conversation = await w.conversation({ windowExpiresAt })
      const message = { conversationId: conversation.id, body: text(`Later ${n}`), dueAt, cancelIfCustomerWrites: true }
      const { scheduled } = await scheduleMessage(one, w.agent, message)
      return { ...scheduled, phone: conversation.contact.phone ?? '' }
    }),
  )
  w.clock.advance(60_000)
  const acknowledged = new Set<string>()
  const others = scheduled.map(async ({ id, conversationId, phone }, n) => {
    if (n % 4 === 1) {
      const named = { conversationId, id }
      await cancelScheduled(one, w.agent, named).then(
        () => acknowledged.add(id),
        () => {},
      )
    }
    const customer = { userId: null, parentUserId: null, phone, name: 'Ana' }
    if (n % 4 === 2) await w.tell(customerMessage({ at: w.clock.now(), text: 'Wait', customer }))
    if (n % 4 === 3) await w.db.tx((tx) => eraseConversation(tx, w.workspaceId, conversationId))
  })
  await Promise.all([...nodes.map(sendDueMessages), ...others, ...nodes.map(sendDueMessages)])
  for (const [n, { id, phone }] of scheduled.entries()) {
    const sends = w.platform.sends.filter(({ order }) => order.recipient.phone === phone).length
    const [row] = await w.db.sql<{ status: string }[]>`
      select status from scheduled_messages where workspace_id = ${w.workspaceId} and id = ${id}`
    assert.ok(sends <= 1, `${n}: sent ${sends} times`)
    if (acknowledged.has(id)) assert.equal(sends, 0, 'what was cancelled is not sent')
    if (n % 4 === 3) assert.equal(row, undefined, 'an erased conversation has none')
    else assert.equal(row?.status, sends === 1 ? 'sent' : 'cancelled', `${n}`)
    if (n % 4 === 0) assert.equal(sends, 1)
  }
})
