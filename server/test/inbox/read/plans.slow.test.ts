import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import {
  fillActivityTraces,
  fillConversations,
  fillMessages,
  fillThreads,
  fillUndecryptableMessages,
} from '../../../../bench/fill.ts'
import type { SentStatement } from '../../../src/base/db.ts'
import { indexInbox } from '../../../src/inbox/search/index-inbox.ts'
import { statementsOf, vacuum } from '../../support/database.ts'
import { oncePerFile } from '../../support/file-lifecycle.ts'
import {
  addAgent,
  addLabel,
  conversationPath,
  customerMessage,
  inboxPath,
  inboxWorld,
} from '../../support/inbox/inbox-world.ts'
import { signedInMember } from '../../support/member.ts'
import { accessPathsTo, clearStatistics, filtersOn, findBadPlans } from '../../support/query-plans.ts'
import { makeInboxTokens } from '../../support/tokens.ts'
import type { Answer, CallOptions } from '../../support/world.ts'

type Filled = Awaited<ReturnType<typeof filled>>

/**
 * Creates this many conversations with messages, notes and activities, tokens that match no search, and one message
 * that matches.
 */
async function filled(count: number) {
  const w = await inboxWorld()
  const [agent, member, labelId] = [await addAgent(w), await signedInMember(w), await addLabel(w, 'VIP')]
  const filling = { ...w, keyring: await w.keyStore.keyring(w.workspaceId), now: w.clock.now() }
  const fill = (more: number) =>
    fillConversations(filling, { connectionId: w.connectionId, keyId: agent.id, count: more })
  const ids = await fill(count)
  await w.customerWrites('The blue sofa')
  await makeInboxTokens(w)
  await fillMessages(filling, w.connectionId, ids.slice(0, 20), 100)
  // So few that a search page ends at an id with a displayable time: these ids are random.
  await fillUndecryptableMessages(filling, ids.slice(20, 1_500), 5)
  await fillActivityTraces(filling)
  await fillThreads(filling, ids.slice(0, 5_000), member.userId)
  await w.db.sql`
    update conversations
    set assigned_to = ${member.userId}, label_ids = array[${labelId}::uuid]
    where workspace_id = ${w.workspaceId} and id = any (${ids.filter((_, n) => n % 50 === 0)}::uuid[])`
  const tokens = Array.from({ length: 20 * 50 }, () => Math.floor(Math.random() * 100_000))
  await w.db.sql`
    insert into message_search (workspace_id, message_id, index_version, epoch, tokens)
    select ${w.workspaceId}::uuid, gen_random_uuid(), 1, 0, (${tokens}::integer[])[n % 49 * 20 + 1 : n % 49 * 20 + 20]
    from generate_series(1, ${count}) as n`
  const succeed = async (answer: Promise<Answer>): Promise<Answer['body']> => {
    const { status, body } = await answer
    assert.ok(status >= 200 && status < 300, JSON.stringify(body))
    return body
  }
  const asTeam = (method: 'GET' | 'POST', path: string, body?: object) =>
    succeed(member.call(method, `/inbox${path}`, body))
  const asKey = (method: 'GET' | 'POST' | 'PATCH', path: string, options: CallOptions = {}) =>
    succeed(w.call(method, path, { key: agent.value, ...options }))
  /** Requests a page of a list and the next one. */
  const pages = async (get: (cursor: string) => Promise<Answer['body']>) => {
    const { cursor } = await get('')
    if (cursor !== null) await get(`&cursor=${cursor}`)
  }
  return { w, agent, member, labelId, ids, fill, asTeam, asKey, pages }
}

async function callAsKey({ w, agent, ids, asKey, pages }: Filled): Promise<void> {
  const { value: limited } = await w.addKey({ scopes: ['inbox.read'], connectionIds: [w.connectionId] })
  const dayBefore = new Date(w.clock.now().getTime() - 86_400_000).toISOString()
  const filters = [
    ...['', `connection_id=${w.connectionId}`, `connection_id=${randomUUID()}`, 'status=open', 'status=snoozed'],
    ...['owner=human', 'owner=agent', `owner=agent:${agent.id}`, `owner=agent:${randomUUID()}`],
    ...[`updated_after=${dayBefore}`, 'phone=5511900000007'],
    `owner=human&status=closed&updated_after=${dayBefore}&connection_id=${w.connectionId}`,
  ]
  for (const filter of filters) {
    for (const key of [agent.value, limited]) {
      await pages((cursor) => asKey('GET', `${inboxPath}/conversations?limit=3&${filter}${cursor}`, { key }))
    }
  }
  await asKey('GET', `${inboxPath}/templates`)
  const [id = '', other = ''] = ids
  await asKey('GET', conversationPath(id))
  const { messages } = await asKey('GET', `${conversationPath(id)}/messages`)
  await asKey('GET', `${conversationPath(id)}/messages`, { query: { before: messages[0].occurred_at } })
  const label = await addLabel(w, 'Called')
  const change = { owner: `agent:${agent.id}`, status: 'pending', label_ids: [label], note: 'Called' }
  await asKey('PATCH', conversationPath(other), { body: change })
  await asKey('POST', `${conversationPath(other)}/read`)
  for (const key of ['one', 'two', 'one']) {
    const headers = { 'idempotency-key': key }
    await asKey('POST', `${conversationPath(other)}/messages`, { body: { kind: 'text', text: 'Hi' }, headers })
  }
  const echo = { connection_id: w.connectionId, to: '5511900000003', kind: 'text', body: 'Hi', external_id: 'wamid.E' }
  for (let n = 0; n < 2; n++) await asKey('POST', `${inboxPath}/echoes`, { body: echo })
}

async function receiveEverything({ w, member }: Filled): Promise<void> {
  const at = w.clock.now()
  const known = { userId: null, parentUserId: null, phone: '5511900000005', name: 'Ana' }
  await w.deliver(
    customerMessage({ at, customer: known }),
    customerMessage({ at, customer: { ...known, userId: 'BR.1' } }),
  )
  await w.deliver(...Array.from({ length: 21 }, () => customerMessage({ at })))
  const sent = w.platform.sends.at(-1)?.order.correlator ?? ''
  await w.deliver(w.status(`wamid.${sent}`, 'delivered'), w.status('wamid.unknown', 'read'))
  await w.deliver(w.status('wamid.other', 'read', { correlator: sent }))
  // Last event a week ago and many sends since: the worst case for the scan.
  const weekAgo = new Date(w.clock.now().getTime() - 7 * 86_400_000)
  await w.db.sql`update connections set last_event_in_at = ${weekAgo} where workspace_id = ${w.workspaceId}`
  assert.equal((await member.call('GET', `/connections/${w.connectionId}/health`)).status, 200)
}

async function callAsTeam({ w, agent, labelId, asTeam, pages }: Filled): Promise<void> {
  const dayBefore = new Date(w.clock.now().getTime() - 86_400_000).toISOString()
  const filters = [
    ...['', 'status=open', 'status=open,pending', 'view=mine&status=open', 'view=unassigned&status=open'],
    ...['view=unassigned', 'view=agents&status=open', 'view=agents&status=closed', 'unread=true', 'unanswered=true'],
    ...['sort=waiting', 'sort=waiting&view=mine', `labelId=${labelId}`, `connectionId=${w.connectionId}&status=open`],
    ...[`owner=agent:${agent.id}`, 'search=5511900000007', `sort=updated&updatedAfter=${dayBefore}`, 'assignedTo=none'],
    ...['Nobody', 'li', '伟', '998877', '34955501101'].flatMap((name) =>
      ['recent', 'updated', 'waiting'].map((sort) => `sort=${sort}&status=open&search=${encodeURIComponent(name)}`),
    ),
  ]
  for (const filter of filters) await pages((cursor) => asTeam('GET', `/conversations?limit=10&${filter}${cursor}`))
  for (const words of ['sofa', 'blue sof', '"blue sofa"', '机']) {
    await pages((cursor) => asTeam('GET', `/messages?limit=1&search=${encodeURIComponent(words)}${cursor}`))
  }
  const [{ id }] = (await asTeam('GET', '/conversations?limit=1&assignedTo=me')).conversations
  const thread = (query: string) => asTeam('GET', `/conversations/${id}/timeline?limit=2${query}`)
  const newest = await thread('')
  const older = await thread(`&before=${newest.older}`)
  await thread(`&after=${older.newer}`)
  await thread('&around=unread')
  for (const item of newest.items) if (item.type !== 'activity') await thread(`&aroundMessage=${item.id}`)
  const { conversations } = await asTeam('GET', '/conversations?limit=2&unread=true')
  const change = { batchId: randomUUID(), changes: { read: true, addLabelIds: [labelId] } }
  const ids = conversations.map((one: { id: string }) => one.id)
  const { former } = await asTeam('POST', '/conversations/bulk', { ...change, ids })
  assert.equal((await asTeam('POST', '/conversations/bulk-undo', { ...change, former })).left, 0)
  await pages((cursor) => asTeam('GET', `/mentions?limit=1${cursor}`))
  assert.equal((await asTeam('GET', '/mentions?unread=true')).unread, 40)
  await asTeam('POST', '/mentions/read', { conversationId: id })
  await asTeam('GET', '/counts')
  w.clock.advance(100_000)
  await w.customerWrites('One more')
  w.clock.advance(100_000)
  await indexInbox(w)
}

const small = oncePerFile(() => filled(0))

test('a list is read in its order even with statistics collected during a storm', async () => {
  const one = await small()
  await one.fill(2_000)
  await one.w.db.sql`update conversations set is_moving = true`
  await vacuum('conversations')
  await one.w.db.sql`update conversations set is_moving = false`
  const statements = await statementsOf(async () => {
    await one.asKey('GET', `${inboxPath}/conversations`)
    await one.asTeam('GET', '/conversations')
  })
  assert.deepEqual(await findBadPlans(one.w.db, statements, ['conversations']), [])
})

test('each view is counted up to 500, from one range of one index', async () => {
  const { asTeam, w } = await filled(4_000)
  await vacuum()
  let counts: Record<string, { open: number; unread: number }> = {}
  const statements = await statementsOf(async () => {
    counts = (await asTeam('GET', '/counts')).counts
  })
  const [counting, ...more] = statements.filter(({ text }) => /unread_count > 0/.test(text))
  assert.ok(counting && more.length === 0)
  // Uses the primary key only for touched conversations, to check that each still is.
  assert.deepEqual(await accessPathsTo(w.db, counting, 'conversations'), [
    'conversations_pkey',
    'conversations_counted',
  ])
  assert.deepEqual(await filtersOn(w.db, counting, 'conversations'), ['is_moving'])
  assert.deepEqual([counts.all?.open, counts.agents?.open, counts.mine?.open], [500, 500, 40])
})

test('for a common label only as many rows are read as a page needs, for a rare one all, and either page is complete', async () => {
  const { asTeam, w, fill } = await filled(0)
  const ids = await fill(1_500)
  const label = async (name: string, labelled: string[]) => {
    const labelId = await addLabel(w, name)
    await w.db.sql`
      update conversations
      set label_ids = label_ids || ${labelId}::uuid
      where workspace_id = ${w.workspaceId} and id = any (${labelled}::uuid[])`
    return labelId
  }
  const [common, rare] = [ids.filter((_, n) => n % 10 === 0), ids.slice(-3)]
  const [commonId, rareId] = [await label('Common', common), await label('Rare', rare)]
  const list = async (query: string) => {
    let shown: string[] = []
    const statements = await statementsOf(async () => {
      const { conversations } = await asTeam('GET', `/conversations?${query}`)
      shown = conversations.map(({ id }: { id: string }) => id)
    })
    return { shown, sorts: statements.filter(({ text }) => /c\.label_ids <> '{}'/.test(text)).length }
  }
  assert.deepEqual(await list(`labelId=${commonId}&limit=20`), { shown: common.slice(0, 20), sorts: 0 })
  assert.deepEqual(await list(`labelId=${commonId}&limit=20&sort=updated`), { shown: common.slice(0, 20), sorts: 0 })
  assert.deepEqual(await list(`labelId=${rareId}`), { shown: rare, sorts: 1 })
})

const tables = [
  ...['conversations', 'messages', 'message_parts', 'sends', 'events', 'conversation_notes'],
  ...['conversation_activities', 'note_mentions', 'message_search', 'conversation_search'],
]

test('no inbox call scans a big table, in a large or small workspace, with any statistics', async () => {
  const [large, little] = [await filled(20_000), await filled(200)]
  await vacuum()
  const searches: SentStatement[] = []
  for (const each of [large, little]) {
    const { db } = each.w
    const byKeys = await statementsOf(async () => {
      await callAsKey(each)
      await receiveEverything(each)
    })
    assert.deepEqual(
      await findBadPlans(db, byKeys, ['conversations', 'messages', 'message_parts', 'sends', 'events']),
      [],
    )
    const byTeam = await statementsOf(() => callAsTeam(each))
    assert.deepEqual(await findBadPlans(db, byTeam, tables.slice(5)), [])
    const byTokens = byTeam.filter(({ text }) => /tokens @>/.test(text))
    assert.ok(byTokens.length > (each === large ? 5 : 1), `${byTokens.length} by tokens`)
    searches.push(...byTokens)
  }
  for (const isKnown of [true, false]) {
    if (!isKnown) await clearStatistics(large.w.db, tables.slice(8))
    for (const search of searches) {
      for (const table of tables.slice(8).filter((name) => search.text.includes(name))) {
        const ways = await accessPathsTo(large.w.db, search, table)
        assert.ok(ways.includes(`${table}_tokens`) && !ways.includes(`${table}_pkey`), `${ways} ${search.text}`)
      }
    }
  }
})
