import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { statementsOf, vacuum } from '../../support/database.ts'
import { fillBlindMessages, fillConversations, fillMessages, fillTrails } from '../../support/fill.ts'
import {
  addAgent,
  addLabel,
  conversationPath,
  customerMessage,
  type InboxWorld,
  inboxPath,
  inboxWorld,
} from '../../support/inbox/inbox-world.ts'
import { signedInMember } from '../../support/member.ts'
import { badPlans } from '../../support/plans.ts'
import type { Answer } from '../../support/world.ts'

interface Filled extends InboxWorld {
  agent: { id: string; value: string }
  ids: string[]
}

async function filled(conversations: number, messagesEach: number): Promise<Filled> {
  const w = await inboxWorld()
  const agent = await addAgent(w)
  const filling = { ...w, keyring: await w.vault.keyring(w.workspaceId), now: w.clock.now() }
  const ids = await fillConversations(filling, {
    connectionId: w.connectionId,
    keyId: agent.id,
    count: conversations,
  })
  await fillMessages(filling, w.connectionId, ids.slice(0, 20), 100)
  await fillBlindMessages(filling, ids.slice(20), messagesEach)
  await fillTrails(filling)
  return { ...w, agent, ids }
}

async function succeed(answer: Promise<Answer>): Promise<Answer> {
  const done = await answer
  assert.ok(done.status >= 200 && done.status < 300, JSON.stringify(done.body))
  return done
}

async function readEveryWay(w: Filled): Promise<void> {
  const list = (query: Record<string, string>, key = w.key) =>
    succeed(w.call('GET', `${inboxPath}/conversations`, { query, key }))
  const { value: limited } = await w.addKey({ scopes: ['inbox.read'], connectionIds: [w.connectionId] })
  const dayBefore = new Date(w.clock.now().getTime() - 86_400_000).toISOString()
  const filters: Record<string, string>[] = [
    {},
    { connection_id: w.connectionId },
    { connection_id: randomUUID() },
    { owner: 'human' },
    { owner: 'agent' },
    { owner: `agent:${w.agent.id}` },
    { owner: `agent:${randomUUID()}` },
    { status: 'open' },
    { status: 'snoozed' },
    { updated_after: dayBefore },
    { owner: 'human', status: 'closed', updated_after: dayBefore, connection_id: w.connectionId },
  ]
  for (const filter of filters) {
    for (const key of [w.key, limited]) {
      const { body } = await list({ ...filter, limit: '3' }, key)
      if (body.cursor !== null) await list({ ...filter, limit: '3', cursor: body.cursor }, key)
    }
  }
  await list({ phone: '5511900000007' })
  await succeed(w.call('GET', `${inboxPath}/templates`))
  const [id = ''] = w.ids
  await succeed(w.call('GET', conversationPath(id)))
  const { body } = await succeed(w.call('GET', `${conversationPath(id)}/messages`))
  const before = body.messages[0].occurred_at
  await succeed(w.call('GET', `${conversationPath(id)}/messages`, { query: { before } }))
}

async function writeEveryWay(w: Filled): Promise<void> {
  const key = w.agent.value
  const [, id = ''] = w.ids
  const label = await addLabel(w, 'VIP')
  const change = { owner: `agent:${w.agent.id}`, status: 'pending', label_ids: [label], note: 'Called' }
  await succeed(w.call('PATCH', conversationPath(id), { body: change, key }))
  await succeed(w.call('POST', `${conversationPath(id)}/read`, { key }))
  const text = { kind: 'text', text: 'Good morning' }
  for (const idempotencyKey of ['one', 'two', 'one']) {
    const headers = { 'idempotency-key': idempotencyKey }
    await succeed(w.call('POST', `${conversationPath(id)}/messages`, { body: text, headers, key }))
  }
  const echo = { connection_id: w.connectionId, to: '5511900000003', kind: 'text', body: 'Hi', external_id: 'wamid.E' }
  for (let n = 0; n < 2; n++) await succeed(w.call('POST', `${inboxPath}/echoes`, { body: echo, key }))
}

async function receiveEverything(w: Filled): Promise<void> {
  const at = w.clock.now()
  const known = { userId: null, parentUserId: null, phone: '5511900000005', name: 'Ana' }
  const named = { ...known, userId: 'BR.1' }
  await w.tell(customerMessage({ at, customer: known }), customerMessage({ at, customer: named }))
  await w.tell(customerMessage({ at }), ...Array.from({ length: 20 }, () => customerMessage({ at })))
  const sent = w.platform.sends.at(-1)?.order.correlator ?? ''
  await w.tell(w.status(`wamid.${sent}`, 'delivered'), w.status('wamid.unknown', 'read'))
  await w.tell(w.status('wamid.other', 'read', { correlator: sent }))
}

async function readHealth(w: Filled): Promise<void> {
  const { call } = await signedInMember(w)
  // Heard of a week ago, and sent much since: as much as can be to look through.
  const weekAgo = new Date(w.clock.now().getTime() - 7 * 86_400_000)
  await w.db.sql`
    update connections
    set last_event_in_at = ${weekAgo}
    where workspace_id = ${w.workspaceId}`
  await succeed(call('GET', `/connections/${w.connectionId}/health`))
}

const tables = ['conversations', 'messages', 'message_parts', 'sends', 'events']

test('a list is read in its order also when the database counted its conversations in a storm', async () => {
  const w = await filled(2000, 0)
  await w.db.sql`update conversations set is_moving = true`
  await vacuum('conversations')
  await w.db.sql`update conversations set is_moving = false`
  const statements = await statementsOf(async () => {
    await succeed(w.call('GET', `${inboxPath}/conversations`, { key: w.key }))
    const { call } = await signedInMember(w)
    await succeed(call('GET', '/inbox/conversations'))
  })
  assert.deepEqual(await badPlans(w.db, statements, ['conversations']), [])
})

test('no inbox route reads a big table from end to end, in a large workspace as in a small one beside it', async () => {
  const large = await filled(20_000, 5)
  const small = await filled(200, 2)
  await vacuum()
  for (const w of [large, small]) {
    const statements = await statementsOf(async () => {
      await readEveryWay(w)
      await writeEveryWay(w)
      await receiveEverything(w)
      await readHealth(w)
    })
    assert.ok(statements.length > 40, `${statements.length} statements`)
    assert.deepEqual(await badPlans(w.db, statements, tables), [])
  }
})
