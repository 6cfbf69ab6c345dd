import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fillMessages } from '../../../../bench/fill.ts'
import type { ChannelEvent } from '../../../src/channels/channel-event.ts'
import { type InboxWorld, inboxWorld, marina } from '../../support/inbox/inbox-world.ts'
import { signedInMember, type TestMember } from '../../support/member.ts'
import { makeInboxTokens } from '../../support/tokens.ts'

const path = '/inbox/messages'

interface Found {
  id: string
  conversationId: string
  snippet: { text: string; isHit: boolean }[]
}

async function search(member: TestMember, text: string, more = '') {
  const { status, body } = await member.call('GET', `${path}?search=${encodeURIComponent(text)}${more}`)
  assert.equal(status, 200, JSON.stringify(body))
  return body as { messages: Found[]; cursor: string | null; lookedTo: string | null }
}

const lineOf = ({ snippet }: Found): string => snippet.map(({ text }) => text).join('')

/** Returns the hits in order. */
async function lines(member: TestMember, text: string): Promise<string[]> {
  const { messages, cursor } = await search(member, text)
  assert.equal(cursor, null)
  return messages.map(lineOf)
}

async function say(w: InboxWorld, ...texts: string[]): Promise<string> {
  let id = ''
  for (const text of texts) {
    w.clock.advance(1000)
    id = (await w.customerWrites(text, { at: w.clock.now() })).id
  }
  return id
}

const echo = (w: InboxWorld, text: string): ChannelEvent => ({
  type: 'echo',
  externalId: `wamid.${text}`,
  customer: marina,
  kind: 'text',
  text,
  at: w.clock.now(),
})

/** Runs the check before and after indexing. */
async function beforeAndAfterIndexing(w: InboxWorld, check: (which: string) => Promise<void>): Promise<void> {
  await check('without tokens')
  await makeInboxTokens(w)
  await check('with tokens')
}

async function tokenRows({ db, workspaceId }: InboxWorld): Promise<number> {
  const [row] = await db.sql<{ count: number }[]>`
    select count(*)::integer as count
    from message_search
    where workspace_id = ${workspaceId}`
  return row?.count ?? 0
}

test('a message is found by its words in any order, case and accents, before and after indexing', async () => {
  const w = await inboxWorld()
  const member = await signedInMember(w)
  await say(w, 'Segue o ORÇAMENTO do sofá azul', 'Obrigado! E a entrega?', 'Para o sofá verde também')
  await say(w, '你好，我要买手机')
  await w.deliver(echo(w, 'A entrega do sofá leva 12 dias'))
  await beforeAndAfterIndexing(w, async (which) => {
    assert.deepEqual(
      await lines(member, 'sofa'),
      ['A entrega do sofá leva 12 dias', 'Para o sofá verde também', 'Segue o ORÇAMENTO do sofá azul'],
      which,
    )
    assert.deepEqual(await lines(member, 'azul orcamento'), ['Segue o ORÇAMENTO do sofá azul'], which)
    assert.deepEqual(await lines(member, '"sofá azul"'), ['Segue o ORÇAMENTO do sofá azul'], which)
    assert.deepEqual(await lines(member, '"azul sofá"'), [], which)
    assert.deepEqual(await lines(member, 'entr'), ['A entrega do sofá leva 12 dias', 'Obrigado! E a entrega?'], which)
    assert.deepEqual(await lines(member, '手机'), ['你好，我要买手机'], which)
    assert.deepEqual(await lines(member, '12'), ['A entrega do sofá leva 12 dias'], which)
    assert.deepEqual(await lines(member, 'so'), [], which)
    assert.deepEqual(await lines(member, 'sofa amarelo'), [], which)
    assert.deepEqual(await lines(member, '…!'), [], which)
  })
})

test('a hit shows its conversation, author, time and the position of the words', async () => {
  const w = await inboxWorld()
  const member = await signedInMember(w)
  const conversationId = await say(w, 'Do you deliver the blue sofa?')
  const [{ id, occurred_at: occurredAt }] = await w.messages(conversationId)
  await makeInboxTokens(w)
  const { messages } = await search(member, 'sofa deliver')
  assert.deepEqual(messages, [
    {
      id,
      conversationId,
      contact: { name: 'Marina Duarte', phone: '5581991234567' },
      direction: 'inbound',
      kind: 'text',
      author: { type: 'customer', id: null, name: null },
      occurredAt,
      snippet: [
        { text: 'Do you ', isHit: false },
        { text: 'deliver', isHit: true },
        { text: ' the blue ', isHit: false },
        { text: 'sofa', isHit: true },
        { text: '?', isHit: false },
      ],
    },
  ])
})

test('a cursor belongs to one search and does not reveal it', async () => {
  const w = await inboxWorld()
  const member = await signedInMember(w)
  await say(w, 'One sofa', 'Two sofas', 'Three sofas')
  const { cursor } = await search(member, 'sofa', '&limit=1')
  assert.ok(cursor !== null)
  assert.ok(!Buffer.from(cursor, 'base64url').toString().includes('sofa'))
  for (const query of [
    `search=other&cursor=${cursor}`,
    'search=sofa&cursor=bm90aGluZw',
    'search=%20',
    'search=a&limit=51',
  ]) {
    const { status, body } = await member.call('GET', `${path}?${query}`)
    assert.equal(status, 400, query)
    assert.ok(body.data.issues?.[0]?.path ?? body.data.code, JSON.stringify(body))
  }
})

test('a forged cursor does not search more epochs than exist', async () => {
  const w = await inboxWorld()
  const member = await signedInMember(w)
  await say(w, 'One sofa', 'Two sofas')
  await makeInboxTokens(w)
  const { cursor } = await search(member, 'sof', '&limit=1')
  const [name, digest, before] = JSON.parse(Buffer.from(cursor ?? '', 'base64url').toString()) as string[]
  const far = Buffer.from(JSON.stringify([name, digest, before, Number.MAX_SAFE_INTEGER])).toString('base64url')
  const { messages } = await search(member, 'sof', `&cursor=${far}`)
  assert.deepEqual(messages.map(lineOf), ['One sofa'])
})

test('messages of another workspace are never found', async () => {
  const [ours, theirs] = [await inboxWorld(), await inboxWorld()]
  const member = await signedInMember(ours)
  await say(theirs, 'The secret sofa')
  await say(ours, 'The known sofa')
  await beforeAndAfterIndexing(ours, async (which) => {
    assert.deepEqual(await lines(member, 'sofa'), ['The known sofa'], which)
    assert.deepEqual(await lines(member, 'secret'), [], which)
  })
})

test('an edited message is found by its current text, and a withdrawn one not at all', async () => {
  for (const isIndexed of [false, true]) {
    const w = await inboxWorld()
    const member = await signedInMember(w)
    await w.customerWrites('The green sofa', { externalId: 'wamid.1' })
    await w.customerWrites('The green chair', { externalId: 'wamid.2' })
    if (isIndexed) await makeInboxTokens(w)
    w.clock.advance(1000)
    const shared = { direction: 'inbound', customer: marina, at: w.clock.now() } as const
    await w.deliver({ type: 'edited', originalId: 'wamid.1', text: 'The blue sofa', ...shared })
    await w.deliver({ type: 'withdrawn', originalId: 'wamid.2', ...shared })
    await beforeAndAfterIndexing(w, async (which) => {
      assert.deepEqual(await lines(member, 'blue'), ['The blue sofa'], which)
      assert.deepEqual(await lines(member, 'green'), [], which)
    })
    assert.equal(await tokenRows(w), 1, 'nothing is left of the words that were withdrawn')
  }
})

test('platform notices are not searchable and have no tokens', async () => {
  const w = await inboxWorld()
  const member = await signedInMember(w)
  await w.customerWrites('Marina changed her number', { kind: 'system', opensWindow: false })
  await beforeAndAfterIndexing(w, async (which) => assert.deepEqual(await lines(member, 'changed'), [], which))
  assert.equal(await tokenRows(w), 0)
})

// Byte offsets in the ciphertext: the version of its key, and the content.
for (const [part, place] of Object.entries({ 'whose key is not known': 2, 'that were altered': 40 })) {
  test(`messages ${part} are skipped`, async () => {
    const w = await inboxWorld()
    const member = await signedInMember(w)
    await say(w, 'A broken sofa', 'A whole sofa')
    await w.db.sql`
      update messages
      set content = set_byte(content, ${place}::integer, get_byte(content, ${place}::integer) # 1)
      where workspace_id = ${w.workspaceId}
        and id = (select min(id::text)::uuid from messages where workspace_id = ${w.workspaceId})`
    await beforeAndAfterIndexing(w, async (which) =>
      assert.deepEqual(await lines(member, 'sofa'), ['A whole sofa'], which),
    )
  })
}

test('a limited number of messages is decrypted per page, which tells how far back it has searched', async () => {
  const w = await inboxWorld()
  const member = await signedInMember(w)
  await say(w, 'The first sofa')
  const [{ conversation_id: id }] = (await w.db.sql`
    select conversation_id
    from messages
    where workspace_id = ${w.workspaceId}`) as [{ conversation_id: string }]
  await fillMessages(
    { ...w, keyring: await w.keyStore.keyring(w.workspaceId), now: w.clock.now() },
    w.connectionId,
    [id],
    1_700,
  )
  const first = await search(member, 'sofa')
  assert.deepEqual(first.messages, [])
  assert.ok(first.cursor !== null && first.lookedTo !== null)
  const second = await search(member, 'sofa', `&cursor=${first.cursor}`)
  assert.deepEqual([second.messages.map(lineOf), second.cursor, second.lookedTo], [['The first sofa'], null, null])
  // With tokens, none of them is decrypted.
  await makeInboxTokens(w)
  assert.deepEqual(await lines(member, 'sofa'), ['The first sofa'])
})

/** Simulates enough messages to start later epochs. */
async function nextEpoch({ db, workspaceId }: InboxWorld, epochs = 1): Promise<void> {
  await db.sql`
    update inbox_search_progress
    set epoch = epoch + ${epochs},
      in_epoch = 0
    where workspace_id = ${workspaceId}`
}

test('hits in many epochs come newest first, page by page, each once, during indexing', async () => {
  const w = await inboxWorld()
  const member = await signedInMember(w)
  const texts: string[] = []
  for (const epochs of [1, 1, 5, 40, 3]) {
    const said = [1, 2].map((n) => `Sofa ${n} of ${texts.length}`)
    texts.push(...said)
    await say(w, ...said)
    await makeInboxTokens(w)
    await nextEpoch(w, epochs)
  }
  texts.push('Sofa without tokens', 'Sofa without any')
  await say(w, ...texts.slice(-2))
  const seen: string[] = []
  let cursor: string | null = null
  do {
    const page = await search(member, 'sofa', `&limit=3${cursor === null ? '' : `&cursor=${cursor}`}`)
    seen.push(...page.messages.map(lineOf))
    cursor = page.cursor
    if (seen.length === 3) await makeInboxTokens(w)
  } while (cursor !== null)
  assert.deepEqual(seen, texts.toReversed())
  assert.deepEqual(await lines(member, '"sofa 2 of 0"'), ['Sofa 2 of 0'])
})
