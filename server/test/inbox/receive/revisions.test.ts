import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChannelEvent } from '../../../src/channels/channel-event.ts'
import { externalIndex } from '../../../src/inbox/conversation/encrypted-conversation.ts'
import { declaredPicture } from '../../support/inbox/declared-files.ts'
import { customerMessage, type InboxWorld, inboxWorld, marina } from '../../support/inbox/inbox-world.ts'
import { storedFiles, storedMessage } from '../../support/inbox/stored-messages.ts'
import { signedInMember } from '../../support/member.ts'
import { inboxSnapshot } from './inbox-snapshot.ts'

type Revision = Extract<ChannelEvent, { originalId: string }>

const shared = (w: InboxWorld, secondsAgo = 0) => ({
  originalId: 'wamid.1',
  direction: 'inbound' as const,
  customer: marina,
  at: new Date(w.clock.now().getTime() - secondsAgo * 1000),
})
const edited = (w: InboxWorld, text: string, secondsAgo = 0, more: Partial<Revision> = {}) =>
  ({ ...shared(w, secondsAgo), type: 'edited', text, ...more }) as ChannelEvent
const withdrawn = (w: InboxWorld, more: Partial<Revision> = {}) =>
  ({ ...shared(w), type: 'withdrawn', ...more }) as ChannelEvent
const lifted = (w: InboxWorld, more: Partial<Revision> = {}) =>
  ({ ...shared(w), type: 'reaction_lifted', ...more }) as ChannelEvent

const first = { externalId: 'wamid.1' }
const echo = (w: InboxWorld, text: string): ChannelEvent => ({
  type: 'echo',
  externalId: 'wamid.echo',
  customer: marina,
  kind: 'text',
  text,
  at: w.clock.now(),
})

async function lastMessageOf(w: InboxWorld): Promise<unknown> {
  const [picture] = (await inboxSnapshot(w)) as { conversation: { lastMessage: unknown } }[]
  return picture?.conversation.lastMessage
}

test('an edit changes the text for everyone, and the team can see the former one', async () => {
  const w = await inboxWorld()
  const before = await w.customerWrites('Helo', first)
  const said = w.clock.now().toISOString()
  w.clock.advance(5000)
  await w.deliver(edited(w, 'Hello', 2))
  const [conversation] = await w.conversations()
  assert.deepEqual(conversation, { ...before, updated_at: w.clock.now().toISOString() })
  assert.deepEqual(await w.texts(before.id), ['Hello'])
  assert.deepEqual(await lastMessageOf(w), { direction: 'inbound', kind: 'text', text: 'Hello' })
  const { revision } = await storedMessage(w, 'wamid.1')
  const editedAt = new Date(w.clock.now().getTime() - 2000).toISOString()
  assert.deepEqual(revision, { editedAt, withdrawnAt: null, former: [{ text: 'Helo', at: said }] })
  assert.equal((await w.events(before.id)).length, 1, 'nothing was received again')
})

test('an edit of an older message does not change the last message', async () => {
  const w = await inboxWorld()
  await w.customerWrites('Helo', { ...first, at: new Date(w.clock.now().getTime() - 9000) })
  const { id } = await w.customerWrites('Anybody?')
  await w.deliver(edited(w, 'Hello'))
  assert.deepEqual(await w.texts(id), ['Hello', 'Anybody?'])
  assert.deepEqual(await lastMessageOf(w), { direction: 'inbound', kind: 'text', text: 'Anybody?' })
})

test('repeated edits, or edits older than the last, change nothing', async () => {
  const w = await inboxWorld()
  await w.customerWrites('One', first)
  w.clock.advance(60_000)
  await w.deliver(edited(w, 'Three', 10))
  const before = [await w.conversations(), await storedMessage(w, 'wamid.1')]
  w.clock.advance(1000)
  await w.deliver(edited(w, 'Two', 21))
  await w.deliver(edited(w, 'Three', 11))
  assert.deepEqual([await w.conversations(), await storedMessage(w, 'wamid.1')], before)
  assert.equal((await storedMessage(w, 'wamid.1')).text, 'Three')
})

test('at most the newest ten former texts are kept, each no longer than a page can show', async () => {
  const w = await inboxWorld()
  await w.customerWrites('a'.repeat(5000), first)
  for (let n = 1; n <= 11; n++) {
    w.clock.advance(1000)
    await w.deliver(edited(w, `Text ${n}`))
    if (n === 1) assert.equal((await storedMessage(w, 'wamid.1')).revision?.former[0]?.text.length, 4096)
  }
  const { revision } = await storedMessage(w, 'wamid.1')
  assert.deepEqual(
    revision?.former.map(({ text }) => text),
    Array.from({ length: 10 }, (_, n) => `Text ${n + 1}`),
  )
})

test('a withdrawn message keeps its place without text, and nothing restores it', async () => {
  const w = await inboxWorld()
  const before = await w.customerWrites('Secret', first)
  w.clock.advance(5000)
  await w.deliver(withdrawn(w))
  const withdrawnAt = w.clock.now().toISOString()
  const [conversation] = await w.conversations()
  assert.deepEqual(conversation, { ...before, updated_at: withdrawnAt })
  const [message] = await w.messages(before.id)
  assert.deepEqual([message.kind, message.text, message.status], ['text', '', 'delivered'])
  assert.deepEqual(await lastMessageOf(w), { direction: 'inbound', kind: 'text', text: '' })
  const kept = await storedMessage(w, 'wamid.1')
  const former = [{ text: 'Secret', at: message.occurred_at }]
  assert.deepEqual(kept.revision, { editedAt: null, withdrawnAt, former })
  w.clock.advance(5000)
  await w.deliver(withdrawn(w))
  await w.deliver(edited(w, 'Back'))
  await w.deliver(customerMessage({ ...first, text: 'Secret', at: w.clock.now() }))
  assert.deepEqual(await storedMessage(w, 'wamid.1'), kept)
  assert.deepEqual(await w.conversations(), [conversation])
})

test('a workspace that keeps no former texts deletes them with the next change', async () => {
  const w = await inboxWorld()
  const admin = await signedInMember(w, 'admin')
  assert.equal((await admin.call('GET', '')).body.workspace.keepFormerTexts, true)
  const cards = [{ name: 'Bea', organisation: null, phones: [], emails: [] }]
  await w.customerWrites('One', { ...first, detail: { cards, quoted: { externalId: 'wamid.0', text: 'x' } } })
  w.clock.advance(5000)
  await w.deliver(edited(w, 'Two'))
  assert.equal((await storedMessage(w, 'wamid.1')).revision?.former.length, 1)
  const { body } = await admin.call('PATCH', '', { keepFormerTexts: false })
  assert.equal(body.workspace.keepFormerTexts, false)
  w.clock.advance(5000)
  await w.deliver(edited(w, 'Three'))
  assert.deepEqual((await storedMessage(w, 'wamid.1')).revision?.former, [])
  w.clock.advance(5000)
  await w.deliver(withdrawn(w))
  const { text, detail, revision } = await storedMessage(w, 'wamid.1')
  assert.deepEqual([text, detail, revision?.former], ['', undefined, []])
})

test('a withdrawn picture loses its file at once, and keeps its other details', async () => {
  const w = await inboxWorld()
  const quoted = { externalId: 'wamid.0', text: null }
  await w.customerWrites('Look', { ...first, kind: 'image', detail: { media: declaredPicture, quoted } })
  assert.equal((await storedFiles(w)).length, 1)
  w.clock.advance(1000)
  await w.deliver(withdrawn(w))
  assert.equal((await storedFiles(w)).length, 0)
  const { kind, detail } = await storedMessage(w, 'wamid.1')
  assert.deepEqual([kind, detail], ['image', { quoted }])
})

test('a reaction is stored as a message; a removed one has no text, and a later choice stays', async () => {
  const w = await inboxWorld()
  const { id } = await w.customerWrites('Hello', first)
  const react = async (externalId: string, emoji: string) => {
    w.clock.advance(2000)
    const detail = { reaction: { externalId: 'wamid.1', emoji } }
    await w.deliver(customerMessage({ at: w.clock.now(), externalId, text: emoji, detail }))
  }
  const shown = async () => (await w.messages(id)).map(({ kind, text }) => `${kind} ${text}`)
  await react('wamid.r1', '👍')
  await react('wamid.r2', '🎉')
  const before = lifted(w)
  await react('wamid.r3', '👎')
  assert.deepEqual(await shown(), ['text Hello', 'text 👍', 'text 🎉', 'text 👎'])
  // The reaction that it removes was made before, though it arrived later.
  await w.deliver(before)
  assert.deepEqual(await shown(), ['text Hello', 'text ', 'text ', 'text 👎'])
  const { detail, revision } = await storedMessage(w, 'wamid.r2')
  assert.deepEqual(detail, { reaction: { externalId: 'wamid.1', emoji: '🎉' } })
  assert.deepEqual(
    revision?.former.map(({ text }) => text),
    ['🎉'],
  )
  w.clock.advance(2000)
  await w.deliver(lifted(w, { direction: 'outbound' }))
  assert.equal((await shown()).at(-1), 'text 👎', 'it was the customer’s, not ours')
  await w.deliver(lifted(w))
  assert.equal((await shown()).at(-1), 'text ')
  assert.equal((await shown())[0], 'text Hello', 'the message itself stays')
})

test('only the author can change a message', async () => {
  const w = await inboxWorld()
  const { id } = await w.customerWrites('Hello', first)
  const other = { ...marina, phone: '5511977770000', name: 'Bo' }
  await w.customerWrites('Hi', { customer: other })
  w.clock.advance(1000)
  await w.deliver(echo(w, 'Good day'))
  w.clock.advance(1000)
  const before = await inboxSnapshot(w)
  await w.deliver(edited(w, 'Forged', 0, { customer: other }))
  await w.deliver(withdrawn(w, { customer: other }))
  await w.deliver(edited(w, 'Forged', 0, { direction: 'outbound' }))
  await w.deliver(edited(w, 'Forged', 0, { originalId: 'wamid.echo' }))
  await w.deliver(withdrawn(w, { originalId: 'wamid.echo' }))
  assert.deepEqual(await inboxSnapshot(w), before)
  await w.deliver(edited(w, 'Good evening', 0, { originalId: 'wamid.echo', direction: 'outbound' }))
  assert.deepEqual(await w.texts(id), ['Hello', 'Good evening'])
})

test('a change to a part of a longer message changes nothing and is logged without its text', async () => {
  const w = await inboxWorld()
  const lines: unknown[] = []
  w.receiveDeps.log = { ...w.log, info: (message, fields) => lines.push([message, fields?.code]) }
  const { id } = await w.customerWrites('Hello')
  const sent = await w.pendingSend(id, 2)
  const index = externalIndex(await w.keyStore.keyring(w.workspaceId), w.connectionId, 'wamid.part')
  await w.db.sql`update message_parts set external_index = ${index} where message_id = ${sent} and part = 1`
  const before = await inboxSnapshot(w)
  await w.deliver(withdrawn(w, { originalId: 'wamid.part', direction: 'outbound' }))
  assert.deepEqual(await inboxSnapshot(w), before)
  assert.deepEqual(lines, [['ignored a message change that is not by its author', 'withdrawn']])
})

test('edits in one delivery with their message, and conflicting ones, apply in platform order', async () => {
  const w = await inboxWorld()
  const at = (secondsAgo: number) => new Date(w.clock.now().getTime() - secondsAgo * 1000)
  const message = customerMessage({ ...first, text: 'One', at: at(30) })
  const more = customerMessage({ text: 'And more', at: at(15) })
  await w.deliver(edited(w, 'Three', 10), more, edited(w, 'Two', 20), message)
  const [{ id, unread_count }] = await w.conversations()
  assert.deepEqual(await w.texts(id), ['Three', 'And more'])
  assert.equal(unread_count, 2)
  const { revision } = await storedMessage(w, 'wamid.1')
  assert.deepEqual(
    revision?.former.map(({ text }) => text),
    ['One', 'Two'],
  )
})
