import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { adaptersOf, fetchDeps } from '../../../src/app/inbox.ts'
import type { WebsiteConnection } from '../../../src/channels/connection/connection.ts'
import { externalIdOf } from '../../../src/channels/website/chat-log.ts'
import { createMediaFetcher } from '../../../src/inbox/media/media-fetcher.ts'
import { png } from '../../support/inbox/files-world.ts'
import { addUpload } from '../../support/inbox/uploads.ts'
import { signedInMember } from '../../support/member.ts'
import { websiteWorld } from './website-world.ts'

test('a visitor without a phone chats with the team: both sides see text, delivery and reading', async () => {
  const w = await websiteWorld()
  const token = await w.begin({ name: 'Ana' })
  assert.equal((await w.write(token, 'Do you ship to Chile?')).statusCode, 201)
  const [conversation] = await w.conversations()
  assert.partialDeepStrictEqual(conversation, {
    channel: 'website',
    contact: { name: 'Ana', phone: null },
    window_expires_at: '9999-01-01T00:00:00.000Z',
  })
  const sent = await w.answer(conversation.id, { kind: 'text', text: 'Yes, we do.' })
  assert.equal(sent.status, 202, JSON.stringify(sent.body))
  const update = await w.updates(token)
  assert.deepEqual(
    update.messages.map((one: { direction: string; text: string }) => [one.direction, one.text]),
    [
      ['inbound', 'Do you ship to Chile?'],
      ['outbound', 'Yes, we do.'],
    ],
  )
  assert.ok(!JSON.stringify(update).includes('correlator'))
  const { seq } = update.messages[1]
  for (const status of ['delivered', 'read'] as const) {
    assert.equal((await w.visit('POST', 'marks', { token, body: { upTo: seq, status } })).statusCode, 200)
    const shown = (await w.messages(conversation.id)).find(({ direction }) => direction === 'outbound')
    assert.equal(shown.status, status)
  }
})

test('a message is in the inbox once however often it is sent, and a lost answer loses none', async () => {
  const w = await websiteWorld()
  const token = await w.begin()
  const clientId = randomUUID()
  const body = { clientId, text: 'Hello' }
  const answers = await Promise.all(Array.from({ length: 5 }, () => w.visit('POST', 'messages', { token, body })))
  assert.deepEqual([...new Set(answers.map(({ statusCode }) => statusCode))], [201])
  assert.equal(new Set(answers.map((one) => one.json().id)).size, 1)
  const [conversation] = await w.conversations()
  assert.equal((await w.messages(conversation.id)).length, 1)
  const { messages } = await w.updates(token)
  assert.deepEqual(
    messages.map((one: { clientId: string }) => one.clientId),
    [clientId],
  )
})

test('updates continue after a number, wait for the next change, and end at once without one', async () => {
  const w = await websiteWorld()
  const token = await w.begin()
  await w.write(token, 'One')
  const first = await w.updates(token)
  const { seq } = first.messages.at(-1)
  const position = `?after=${seq}&version=${first.version}`
  assert.deepEqual((await w.updates(token, position)).messages, [])
  const waiting = w.updates(token, `${position}&wait=25`)
  const [conversation] = await w.conversations()
  await w.answer(conversation.id, { kind: 'text', text: 'Two' })
  const { messages, version } = await waiting
  assert.deepEqual(
    messages.map(({ text }: { text: string }) => text),
    ['Two'],
  )
  assert.ok(version > first.version)
})

test('options become buttons, and the chosen one reaches the inbox with the message that offered it', async () => {
  const w = await websiteWorld()
  const token = await w.begin()
  await w.write(token, 'Hi')
  const [conversation] = await w.conversations()
  const buttons = [
    { id: 's', title: 'Small' },
    { id: 'l', title: 'Large' },
  ]
  const sent = await w.answer(conversation.id, { kind: 'choices', choices: { text: 'Which size?', buttons } })
  assert.equal(sent.status, 202, JSON.stringify(sent.body))
  const offered = (await w.updates(token)).messages.at(-1)
  assert.deepEqual(offered.choices, { buttons })
  const chosen = { messageId: offered.id, optionId: 'l' }
  assert.equal((await w.write(token, 'ignored', { chosen })).statusCode, 201)
  assert.ok(
    (await w.messages(conversation.id)).some(({ direction, text }) => direction === 'inbound' && text === 'Large'),
  )
  assert.equal((await w.updates(token)).messages.at(-1).text, 'Large')
  assert.equal((await w.write(token, '', { chosen: { ...chosen, optionId: 'xl' } })).statusCode, 422)
})

test('files of visitors are checked by their content and fetched by the inbox; those of the team can be downloaded', async () => {
  const w = await websiteWorld()
  const token = await w.begin()
  const name = '../\r\nx-evil: 1/"photo".png'
  const send = (bytes: Buffer) =>
    w.visit('POST', `files?${new URLSearchParams({ clientId: randomUUID(), name })}`, { token, body: bytes })
  assert.equal((await send(Buffer.from('<svg onload=alert(1)>'))).statusCode, 422)
  assert.equal((await send(Buffer.from('MZ executable'))).statusCode, 422)
  assert.equal((await send(Buffer.alloc(9 * 1024 * 1024, 1))).statusCode, 413)
  assert.equal((await send(png)).statusCode, 201)
  // The visitor's device shows the image again after a reload, before the inbox has fetched it and after.
  const own = async () => (await w.updates(token)).messages.at(-1).file
  const isShown = async () => (await w.visit('GET', `files/${(await own()).id}`, { token })).rawPayload.equals(png)
  assert.ok(await isShown())
  const deps = fetchDeps(w, { create: async () => null, close: async () => {} })
  await createMediaFetcher(deps).drain()
  const [row] = await w.db.sql`select state from media where workspace_id = ${w.workspaceId}`
  assert.equal(row?.state, 'here')
  const [conversation] = await w.conversations()
  const shown = (await w.updates(token)).messages.at(-1)
  assert.doesNotMatch(shown.file.name, /[\r\n"/\\:]/)
  await w.db.sql`delete from website_files where workspace_id = ${w.workspaceId}`
  assert.ok(await isShown())

  const scope = { workspaceId: w.workspaceId, conversationId: conversation.id }
  const mediaId = await addUpload(w, scope, { kind: 'image', type: 'image/png', bytes: png, name: 'Catálogo "x".png' })
  const sent = await w.answer(conversation.id, { kind: 'media', upload_id: mediaId, text: 'Here' })
  assert.equal(sent.status, 202, JSON.stringify(sent.body))
  const { file } = (await w.updates(token)).messages.at(-1)
  const download = await w.visit('GET', `files/${file.id}`, { token })
  assert.equal(download.statusCode, 200, download.body)
  assert.ok(download.rawPayload.equals(png))
  assert.match(String(download.headers['content-disposition']), /^attachment; filename\*=UTF-8''[\w.%-]+$/)
  const other = await w.begin()
  for (const { id } of [file, shown.file]) {
    assert.equal((await w.visit('GET', `files/${id}`, { token: other })).statusCode, 404)
  }
})

test('the widget shows the hours of the team that gets the conversations of its connection', async () => {
  const w = await websiteWorld()
  const admin = await signedInMember(w, 'admin')
  const always = [{ from: '00:00', to: '24:00' }]
  const days = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
  const hoursOf = (spans: object[]) => ({
    timeZone: 'UTC',
    week: Object.fromEntries(days.map((day) => [day, spans])),
  })
  const isOpen = async () => (await w.visit('GET', 'config')).json().hours?.isOpen
  const put = async (path: string, body: object) => {
    const { status, body: answer } = await admin.call('PUT', path, body)
    assert.equal(status, 200, JSON.stringify(answer))
  }
  assert.equal((await admin.call('PATCH', '', { hours: hoursOf(always) })).status, 200)
  const { team } = (await admin.call('POST', '/teams', { name: 'Shop', memberIds: [] })).body
  const service = { holidays: null, awayMessage: null, serviceGoals: null }
  await put(`/teams/${team.id}/service`, { ...service, hours: hoursOf([]) })
  assert.equal(await isOpen(), true)
  const rule = { agent: 'none', keyId: null, teamId: team.id }
  await put('/routing', { rules: [{ connectionId: w.connectionId, ...rule }] })
  assert.equal(await isOpen(), false)
  const today = w.clock.now().toISOString().slice(0, 10)
  const holidays = [{ name: 'Inventory', from: today, to: today }]
  await put(`/teams/${team.id}/service`, { ...service, hours: hoursOf(always) })
  assert.equal(await isOpen(), true)
  await put(`/teams/${team.id}/service`, { ...service, holidays, hours: hoursOf(always) })
  assert.equal(await isOpen(), false, 'a holiday of the team')
})

test('what a visitor types before the chat reaches the team as not verified, and can become a lead', async () => {
  const w = await websiteWorld({ fields: { name: 'optional', email: 'optional', phone: 'off' } })
  await w.db.sql`update workspaces set leads_from_chat = true where id = ${w.workspaceId}`
  const typed = { name: 'Ana\u0007 <b>Lima</b>', email: 'ana@example.com', phone: '+55 11 95550-1234' }
  const token = await w.begin(typed)
  await Promise.all([w.write(token, 'Hello'), w.write(token, 'Again')])
  const [conversation] = await w.conversations()
  assert.deepEqual(conversation.contact, { name: 'Ana <b>Lima</b>', phone: null })
  const texts = (await w.messages(conversation.id)).map(({ text }) => text)
  assert.equal(texts.filter((text: string) => text.includes('not verified')).length, 1)
  assert.ok(texts.some((text: string) => text.includes('ana@example.com')))
  // The site does not ask for the phone, so it counts for nothing.
  assert.ok(!texts.some((text: string) => text.includes('95550')))
  const leads = await w.db.sql`select id from leads where workspace_id = ${w.workspaceId}`
  assert.equal(leads.length, 1)
})

test('agents answer a visitor through the API of the contract, and templates are refused', async () => {
  const w = await websiteWorld()
  const token = await w.begin()
  await w.write(token, 'Hello')
  const [conversation] = await w.conversations()
  const own = `/api/v1/inbox/conversations/${conversation.id}`
  assert.equal((await w.call('PATCH', own, { body: { owner: `agent:${w.keyId}` } })).status, 200)
  w.clock.advance(48 * 3_600_000)
  const send = (body: object) =>
    w.call('POST', `${own}/messages`, { body, headers: { 'idempotency-key': randomUUID() } })
  const sent = await send({ kind: 'text', text: 'Still here.' })
  assert.equal(sent.status, 202, JSON.stringify(sent.body))
  assert.equal((await w.updates(token)).messages.at(-1).text, 'Still here.')
  const template = { kind: 'template', template: { name: 'hello', language: 'en', parameters: [] } }
  const refused = await send(template)
  assert.ok(refused.status >= 400 && refused.status < 500, JSON.stringify(refused.body))
})

test('a visitor sees that the team has read and writes, until the answer comes', async () => {
  const w = await websiteWorld()
  const token = await w.begin()
  await w.write(token, 'Hello')
  const [conversation] = await w.conversations()
  const before = await w.updates(token)
  assert.deepEqual([before.readSeq, before.isTyping], [0, false])
  const [visitor] = await w.db.sql`select id from website_visitors where workspace_id = ${w.workspaceId}`
  const connection = { workspaceId: w.workspaceId, id: w.connectionId } as WebsiteConnection
  const customer = { phone: null, userId: `web.${visitor?.id}` }
  const { connector } = adaptersOf(w).website
  await connector.markRead(connection, externalIdOf(before.messages[0].id), customer, true)
  const seen = await w.updates(token)
  assert.deepEqual([seen.readSeq, seen.isTyping], [before.messages[0].seq, true])
  await w.answer(conversation.id, { kind: 'text', text: 'Hi' })
  assert.equal((await w.updates(token)).isTyping, false)
})

test('an erasure removes the chat, its sessions and files, and the device begins a new one', async () => {
  const w = await websiteWorld()
  const [token, other] = [await w.begin({ name: 'Ana' }), await w.begin()]
  await w.write(token, 'Forget me')
  await w.visit('POST', `files?clientId=${randomUUID()}`, { token, body: png })
  await w.write(other, 'Keep me')
  const conversation = (await w.conversations()).find(({ contact }) => contact.name === 'Ana')
  const erased = await w.team('POST', '/erasures', { conversationId: conversation.id })
  assert.equal(erased.status, 201, JSON.stringify(erased.body))
  assert.equal((await w.visit('GET', 'updates', { token })).statusCode, 401)
  assert.equal((await w.updates(other)).messages.length, 1)
  for (const table of ['website_visitors', 'website_sessions', 'website_messages', 'website_files']) {
    const rows = await w.db.sql`select id from ${w.db.sql(table)} where workspace_id = ${w.workspaceId}`
    assert.equal(rows.length, table === 'website_files' ? 0 : 1, table)
  }
})
