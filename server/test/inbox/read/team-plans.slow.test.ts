import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { statementsOf, vacuum } from '../../support/database.ts'
import { fillBlindMessages, fillConversations, fillMessages, fillThreads } from '../../support/fill.ts'
import { addAgent, addLabel, type InboxWorld, inboxWorld } from '../../support/inbox/inbox-world.ts'
import { signedInMember, type TestMember } from '../../support/member.ts'
import { badPlans, filtersOn, waysTo } from '../../support/plans.ts'

const path = '/inbox/conversations'

interface Filled {
  w: InboxWorld
  member: TestMember
  labelId: string
  keyId: string
}

async function filled(count: number): Promise<Filled> {
  const w = await inboxWorld()
  const { id: keyId } = await addAgent(w)
  const member = await signedInMember(w)
  const labelId = await addLabel(w, 'VIP')
  const filling = { ...w, keyring: await w.vault.keyring(w.workspaceId), now: w.clock.now() }
  const ids = await fillConversations(filling, { connectionId: w.connectionId, keyId, count })
  await fillMessages(filling, w.connectionId, ids.slice(0, 20), 10)
  await fillBlindMessages(filling, ids.slice(20, 5_000), 2)
  await fillThreads(filling, ids.slice(0, 5_000), member.userId)
  await w.db.sql`
    update conversations
    set assigned_to = ${member.userId},
      label_ids = array[${labelId}::uuid]
    where workspace_id = ${w.workspaceId}
      and id = any (${ids.filter((_, n) => n % 50 === 0)}::uuid[])`
  return { w, member, labelId, keyId }
}

async function readEveryWay({ member, labelId, keyId, w }: Filled): Promise<void> {
  const dayBefore = new Date(w.clock.now().getTime() - 86_400_000).toISOString()
  const filters = [
    '',
    'status=open',
    'status=open,pending',
    'view=mine&status=open',
    'view=unassigned&status=open',
    'view=unassigned',
    'view=agents&status=open',
    'view=agents&status=closed',
    'unread=true',
    'unanswered=true',
    'sort=waiting',
    'sort=waiting&view=mine',
    `labelId=${labelId}`,
    `connectionId=${w.connectionId}&status=open`,
    `owner=agent:${keyId}`,
    'search=5511900000007',
    `sort=updated&updatedAfter=${dayBefore}`,
    'assignedTo=none',
  ]
  for (const filter of filters) {
    const { status, body } = await member.call('GET', `${path}?limit=10&${filter}`)
    assert.equal(status, 200, JSON.stringify(body))
    if (body.cursor === null) continue
    assert.equal((await member.call('GET', `${path}?limit=10&${filter}&cursor=${body.cursor}`)).status, 200)
  }
  const [{ id }] = (await member.call('GET', `${path}?limit=1`)).body.conversations
  const thread = async (query: string) => {
    const { status, body } = await member.call('GET', `${path}/${id}/timeline?limit=2${query}`)
    assert.equal(status, 200, JSON.stringify(body))
    return body
  }
  const newest = await thread('')
  const older = await thread(`&before=${newest.older}`)
  await thread(`&after=${older.newer}`)
  await thread('&around=unread')
  const said = newest.items.find((one: { type: string }) => one.type === 'message')
  if (said !== undefined) await thread(`&aroundMessage=${said.id}`)
  const noted = newest.items.find((one: { type: string }) => one.type === 'note')
  if (noted !== undefined) await thread(`&aroundMessage=${noted.id}`)
  const { conversations: some } = (await member.call('GET', `${path}?limit=2&unread=true`)).body
  const change = { batchId: randomUUID(), changes: { read: true, addLabelIds: [labelId] } }
  const ids = some.map((one: { id: string }) => one.id)
  const changed = await member.call('POST', `${path}/bulk`, { ...change, ids })
  assert.equal(changed.body.former.length, ids.length, JSON.stringify(changed.body))
  const undone = await member.call('POST', `${path}/bulk-undo`, { ...change, former: changed.body.former })
  assert.equal(undone.body.left, 0, JSON.stringify(undone.body))
  const mentions = (await member.call('GET', '/inbox/mentions?limit=1')).body
  assert.equal((await member.call('GET', `/inbox/mentions?limit=1&cursor=${mentions.cursor}`)).status, 200)
  assert.equal((await member.call('GET', '/inbox/mentions?unread=true')).body.unread, 40)
  assert.equal((await member.call('POST', '/inbox/mentions/read', { conversationId: id })).status, 200)
  const { counts } = (await member.call('GET', '/inbox/counts')).body
  assert.ok(counts.all.open >= counts.mine.open && counts.mine.open > 0, JSON.stringify(counts))
}

test('each view is counted up to 500, from one place of one index', async () => {
  const { member, w } = await filled(4_000)
  await vacuum()
  let counts: Record<string, { open: number; unread: number }> = {}
  const statements = await statementsOf(async () => {
    counts = (await member.call('GET', '/inbox/counts')).body.counts
  })
  const counting = statements.filter(({ text }) => /unread_count > 0/.test(text))
  assert.equal(counting.length, 1)
  for (const statement of counting) {
    // By the key only those that move, of which each is asked whether it still does.
    assert.deepEqual(await waysTo(w.db, statement, 'conversations'), ['conversations_pkey', 'conversations_counted'])
    assert.deepEqual(await filtersOn(w.db, statement, 'conversations'), ['is_moving'])
  }
  assert.deepEqual([counts.all, counts.agents?.open, counts.mine?.open], [{ open: 500, unread: 200 }, 500, 40])
})

test('of a common label as many are read as a page needs, of a rare one all, and either page is whole', async () => {
  const { member, w, keyId } = await filled(0)
  const filling = { ...w, keyring: await w.vault.keyring(w.workspaceId), now: w.clock.now() }
  const ids = await fillConversations(filling, { connectionId: w.connectionId, keyId, count: 1_500 })
  const [common, rare] = [ids.filter((_, n) => n % 10 === 0), ids.slice(-3)]
  const [commonId, rareId] = [await addLabel(w, 'Common'), await addLabel(w, 'Rare')]
  for (const [labelId, labelled] of [
    [commonId, common],
    [rareId, rare],
  ] as const) {
    await w.db.sql`
      update conversations
      set label_ids = label_ids || ${labelId}::uuid
      where workspace_id = ${w.workspaceId}
        and id = any (${labelled}::uuid[])`
  }
  const list = async (query: string) => {
    let shown: string[] = []
    const statements = await statementsOf(async () => {
      const { body } = await member.call('GET', `${path}?${query}`)
      shown = body.conversations.map(({ id }: { id: string }) => id)
    })
    return { shown, sorts: statements.filter(({ text }) => /c\.label_ids <> '{}'/.test(text)).length }
  }
  assert.deepEqual(await list(`labelId=${commonId}&limit=20`), { shown: common.slice(0, 20), sorts: 0 })
  assert.deepEqual(await list(`labelId=${commonId}&limit=20&sort=updated`), { shown: common.slice(0, 20), sorts: 0 })
  assert.deepEqual(await list(`labelId=${rareId}`), { shown: rare, sorts: 1 })
  const pages = []
  for (let cursor = ''; ; ) {
    const { body } = await member.call('GET', `${path}?labelId=${commonId}&limit=60${cursor}`)
    pages.push(...body.conversations.map(({ id }: { id: string }) => id))
    if (body.cursor === null) break
    cursor = `&cursor=${body.cursor}`
  }
  assert.deepEqual(pages, common)
})

const tables = ['conversations', 'messages', 'conversation_notes', 'conversation_activities', 'note_mentions']

test('no list and no count of the team reads a table from end to end, with 50,000 conversations as with 200', async () => {
  const [large, small] = [await filled(50_000), await filled(200)]
  await vacuum()
  for (const each of [large, small]) {
    const statements = await statementsOf(() => readEveryWay(each))
    assert.ok(statements.length > 30, `${statements.length} statements`)
    assert.deepEqual(await badPlans(each.w.db, statements, tables), [])
  }
})
