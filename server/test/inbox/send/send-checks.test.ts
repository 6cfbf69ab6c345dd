import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../../src/base/id.ts'
import type { Channel } from '../../../src/channels/connection/connection.ts'
import type { Conversation } from '../../../src/inbox/conversation/conversation.ts'
import { agent, human } from '../../../src/inbox/conversation/owner.ts'
import { createSend } from '../../../src/inbox/send/send.ts'
import { noon, type PostOptions, type SendWorld, sendWorld, text } from '../../support/inbox/send-world.ts'

const template = (fields: object = {}) => ({
  kind: 'template',
  template: { name: 'order_update', language: 'en_US', body_params: ['Ana', 'A-17'], ...fields },
})

async function addTemplate(world: SendWorld, fields: Record<string, unknown> = {}): Promise<void> {
  const row = { name: 'order_update', status: 'APPROVED', bodyOnly: true, names: null as string[] | null, ...fields }
  await world.db.sql`
    insert into templates (
      workspace_id, connection_id, id, name, language, category, status, body, parameter_names, parameter_count,
      body_only, synced_at
    )
    values (
      ${world.workspaceId}, ${world.connectionId}, ${newId(noon)}, ${row.name}, 'en_US', 'UTILITY', ${row.status},
      'Hi {{1}}, order {{2}} is on its way, {{1}}.', ${row.names}, 2, ${row.bodyOnly}, ${noon}
    )`
}

type Arrange = (world: SendWorld) => Promise<{ id: string; options: PostOptions }>
type Settings = Partial<Conversation>

const to =
  (settings: Settings, options: PostOptions = {}): Arrange =>
  async (world) => ({ id: (await world.conversation(settings)).id, options })
const body = (given: unknown) => to({}, { body: given })

/** Sends to a conversation on its own connection with these column values. */
const through =
  (channel: Channel, columns: object, settings: Settings = {}, options: PostOptions = {}): Arrange =>
  async (world) => {
    const connectionId = await world.addConnection(channel)
    await world.db.sql`update connections set ${world.db.sql.set({ ...columns })} where id = ${connectionId}`
    return to({ ...settings, connectionId, channel }, options)(world)
  }

const toAgentsOther: Arrange = async (world) => to({ owner: agent((await world.addKey()).id) })(world)

/** Sends with a key limited to one connection to a conversation of another. */
const outsideConnections =
  (options: PostOptions): Arrange =>
  async (world) => {
    const bound = await world.addKey([await world.addConnection()])
    return to({ owner: agent(bound.id) }, { key: bound.value, ...options })(world)
  }

// Each row of the first part violates its own rule and, where possible, all later ones: the error shows which is
// checked first.
const closed = { windowExpiresAt: new Date(noon.getTime() - 1) }
const ofPeople = { owner: human, ...closed }
const blank = { body: text(' ') }
const nobody = { name: null, phone: null, userId: null, parentUserId: null, address: { phone: null, userId: null } }
const overdue = { acknowledged_at: new Date(noon.getTime() - 90 * 86_400_000) }
const cases: [what: string, answer: string, arrange: Arrange, words?: RegExp][] = [
  [
    '404 before the key and the body',
    '404 NOT_FOUND',
    async () => ({ id: newId(noon), options: { idempotencyKey: null, body: 5, query: { x: '1' } } }),
  ],
  ['404 for an invalid id', '404 NOT_FOUND', async () => ({ id: 'nothing', options: { idempotencyKey: null } })],
  ["404 outside the key's connections", '404 NOT_FOUND', outsideConnections({ idempotencyKey: null })],
  ['404 of an otherwise valid request', '404 NOT_FOUND', outsideConnections({})],
  ['no key before the body', '400 IDEMPOTENCY_KEY_REQUIRED', to(ofPeople, { idempotencyKey: null, body: {} })],
  ['the body before the kind and the owner', '400 INVALID_REQUEST', to(ofPeople, { body: { kind: 'sticker' } })],
  [
    'the kind before the owner',
    '422 UNSUPPORTED_KIND',
    to(ofPeople, { body: { kind: 'interactive', interactive: { type: 'button' } } }),
  ],
  [
    'the owner before the connection and the window',
    '409 OWNER_MISMATCH',
    through('waba', { state: 'paused' }, ofPeople, blank),
  ],
  ['the owner, people', '409 OWNER_MISMATCH', to({ owner: human }), /\(owner: human\)/],
  ['the owner, another agent', '409 OWNER_MISMATCH', toAgentsOther, /\(owner: agent:[\da-f-]{36}\)/],
  [
    'the connection before the acknowledgement',
    '409 CONNECTION_UNAVAILABLE',
    through('unofficial', { state: 'unavailable' }, closed, blank),
  ],
  ['a paused connection', '409 CONNECTION_UNAVAILABLE', through('waba', { state: 'paused' })],
  ['a removed connection', '409 CONNECTION_UNAVAILABLE', through('waba', { removed_at: noon })],
  [
    'the acknowledgement before the window',
    '409 ACKNOWLEDGEMENT_REQUIRED',
    through('unofficial', { acknowledged_at: null }, closed, blank),
  ],
  ['an acknowledgement 90 days ago', '409 ACKNOWLEDGEMENT_REQUIRED', through('unofficial', overdue)],
  ['the window before the message', '422 WINDOW_CLOSED', to(closed, { body: text('  ') })],
  [
    'the template before the message',
    '422 TEMPLATE_NOT_APPROVED',
    body(template({ name: 'nobody_knows', body_params: ['\n'] })),
    /^No template of this connection has this name and language/,
  ],
  [
    'a paused template',
    '422 TEMPLATE_NOT_APPROVED',
    body(template({ name: 'paused' })),
    /^The platform has not approved this template/,
  ],
  [
    'a template with a header',
    '422 TEMPLATE_NOT_APPROVED',
    body(template({ name: 'with_header' })),
    /^This template is approved, but needs more than body parameters/,
  ],
  ['the message last', '422 INVALID_MESSAGE', body(text(' \n '))],
  ['no recipient', '422 INVALID_MESSAGE', to({ contact: nobody })],
  ['an invisible text', '422 INVALID_MESSAGE', body(text('\u200b\u3164 \u2060')), /must not be blank/],
  ['more blanks than one message of the channel holds', '422 INVALID_MESSAGE', body(text(`a${' '.repeat(9000)}b`))],
  ...[['Ana'], ['a', 'b', 'c'], [], ['', 'b'], [' ', 'b'], ['a\nb', 'b'], ['a\tb', 'b'], ['a     b', 'b']].map(
    (body_params): (typeof cases)[number] => [
      `what the platform would refuse in a template: ${JSON.stringify(body_params)}`,
      '422 INVALID_MESSAGE',
      body(template({ body_params })),
    ],
  ),
  ['not an object', '400 INVALID_REQUEST', body(['text'])],
  ['no kind', '400 INVALID_REQUEST', body({ text: 'Hello' })],
  ['no text', '400 INVALID_REQUEST', body({ kind: 'text' })],
  ['an empty text', '400 INVALID_REQUEST', body(text(''))],
  ['16,385 characters', '400 INVALID_REQUEST', body(text('x'.repeat(16_385)))],
  ['a text that is not a string', '400 INVALID_REQUEST', body({ kind: 'text', text: 5 })],
  ['a preview_url that is not a boolean', '400 INVALID_REQUEST', body({ ...text(), preview_url: 'yes' })],
  ['an unknown field', '400 INVALID_REQUEST', body({ ...text(), colour: 'red' })],
  ['a template without a language', '400 INVALID_REQUEST', body({ kind: 'template', template: { name: 'a' } })],
  ['51 body_params', '400 INVALID_REQUEST', body(template({ body_params: Array(51).fill('a') }))],
  ['a parameter of 2,049 characters', '400 INVALID_REQUEST', body(template({ body_params: ['x'.repeat(2049)] }))],
  ['an unknown query parameter', '400 INVALID_QUERY', to({}, { query: { dryRun: 'true' } })],
  ['nothing', '202 sent', to({})],
  ['nothing, for comparison', '202 sent', to({})],
]

test('a send is refused by the first check it fails, alone and in a batch, and is not stored', async (t) => {
  const world = await sendWorld()
  await addTemplate(world)
  await addTemplate(world, { name: 'paused', status: 'PAUSED' })
  await addTemplate(world, { name: 'with_header', bodyOnly: false })
  const asked: { what: string; answer: string; words: RegExp | undefined; id: string; options: PostOptions }[] = []
  for (const [what, answer, arrange, words] of cases) asked.push({ what, answer, words, ...(await arrange(world)) })
  const alone: string[] = []
  for (const { what, answer, words, id, options } of asked) {
    await t.test(`checks in order: ${what}`, async () => {
      const reply = await world.post(id, options)
      alone.push(reply.text)
      assert.equal(`${reply.status} ${reply.body.data?.code ?? reply.body.status}`, answer, reply.text)
      if (words !== undefined) assert.match(reply.body.statusMessage, words)
      // The error does not suggest how to take the conversation over.
      if (answer.endsWith('OWNER_MISMATCH')) assert.doesNotMatch(reply.text, /PATCH|take/i)
    })
  }
  const together = await Promise.all([...asked, ...asked].map(({ id, options }) => world.post(id, options)))
  for (const [n, { status, body: said, text: words }] of together.entries()) {
    const { what, answer } = asked[n % asked.length] ?? assert.fail()
    if (answer === '202 sent') assert.deepEqual([status, said.status], [202, 'sent'], what)
    else assert.equal(words, alone[n % asked.length], what)
  }
  const kept = await world.db.sql`select 1 from sends where workspace_id = ${world.workspaceId}`
  assert.deepEqual([kept.length, world.platform.calls.length], [6, 6])
})

test('a code is sent to a phone number only, not to a customer who hides it', async () => {
  const world = await sendWorld()
  await world.db.sql`
    insert into templates (
      workspace_id, connection_id, id, name, language, category, status, body, parameter_count, body_only, inputs, synced_at
    )
    values (
      ${world.workspaceId}, ${world.connectionId}, ${newId(noon)}, 'code', 'en_US', 'AUTHENTICATION', 'APPROVED',
      '*{{1}}* is your verification code.', 1, false,
      ${world.db.sql.json({ buttons: [{ index: 0, type: 'otp', text: 'Copy code', url: null }] })}, ${noon}
    )`
  const code = { name: 'code', language: 'en_US', body_params: ['482913'], button_params: ['482913'] }
  const send = createSend(world.node.deps)
  const sent = async (contact: object) => {
    const { id } = await world.conversation({ contact: { ...nobody, ...contact } })
    const body = { kind: 'template', template: code }
    return send(world.member, { conversationId: id, idempotencyKey: id, body })
  }
  const [phone, userId] = ['5511955550009', 'BR.7']
  await assert.rejects(sent({ userId, phone: '5511955550008', address: { phone: null, userId } }), /phone numbers only/)
  assert.equal((await sent({ phone, address: { phone, userId } })).status, 202)
})

test('16,384 characters are accepted, also if each takes two UTF-16 units', async () => {
  const { conversation, post, platform } = await sendWorld()
  const { id } = await conversation()
  assert.equal((await post(id, { body: text('👍'.repeat(16_384)) })).status, 202)
  assert.equal(platform.accepted.map((part) => part.text).join('').length, 32_768)
})

test('the unofficial channel sends long texts unsplit, once acknowledged', async () => {
  const world = await sendWorld()
  const { id } = await through('unofficial', { acknowledged_at: noon })(world)
  assert.equal((await world.post(id, { body: text('word '.repeat(2000)) })).status, 202)
  assert.equal(world.platform.calls.length, 1)
  assert.equal((await world.post(id, { body: template() })).body.data.code, 'TEMPLATE_NOT_APPROVED')
})

test('a template can be sent outside the window, and is stored as the customer reads it', async () => {
  const world = await sendWorld()
  await addTemplate(world, { names: ['first_name', 'order'] })
  const { id } = await world.conversation({ windowExpiresAt: null })
  const reply = await world.post(id, { body: template({ language: 'en-US' }) })
  assert.equal(reply.status, 202, reply.text)
  assert.deepEqual(world.platform.calls[0]?.message, {
    kind: 'template',
    category: 'UTILITY',
    name: 'order_update',
    language: 'en_US',
    parameters: ['Ana', 'A-17'],
    names: ['first_name', 'order'],
  })
  const [event] = await world.events(id)
  assert.equal(event?.payload.message.text, 'Hi Ana, order A-17 is on its way, Ana.')
})
