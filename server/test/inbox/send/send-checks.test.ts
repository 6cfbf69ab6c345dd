import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../../src/base/id.ts'
import { agent, human } from '../../../src/inbox/conversation/owner.ts'
import { freshKey, noon, type PostOptions, type SendWorld, sendWorld, text } from '../../support/inbox/send-world.ts'

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

// Each row breaks its own rule and, as far as can be, every later one: the answer shows which is looked at first.
const closed = { owner: human, windowExpiresAt: new Date(noon.getTime() - 1) }
const order: [string, number, string, (world: SendWorld) => Promise<{ id: string; options: PostOptions }>][] = [
  [
    '404 before the key and the body',
    404,
    'NOT_FOUND',
    async () => ({ id: newId(noon), options: { idempotencyKey: null, body: 5, query: { x: '1' } } }),
  ],
  ['404 for what is no id', 404, 'NOT_FOUND', async () => ({ id: 'nothing', options: { idempotencyKey: null } })],
  [
    "404 outside the key's connections",
    404,
    'NOT_FOUND',
    async ({ conversation, addKey, addConnection }) => {
      const { value } = await addKey([await addConnection()])
      return { id: (await conversation()).id, options: { key: value, idempotencyKey: null } }
    },
  ],
  [
    '400 for the missing key before the body',
    400,
    'IDEMPOTENCY_KEY_REQUIRED',
    async ({ conversation }) => ({ id: (await conversation(closed)).id, options: { idempotencyKey: null, body: {} } }),
  ],
  [
    '400 for the body before the kind and the owner',
    400,
    'INVALID_REQUEST',
    async ({ conversation }) => ({ id: (await conversation(closed)).id, options: { body: { kind: 'sticker' } } }),
  ],
  [
    '422 kind before the owner',
    422,
    'UNSUPPORTED_KIND',
    async ({ conversation }) => ({
      id: (await conversation(closed)).id,
      options: { body: { kind: 'interactive', interactive: { type: 'button' } } },
    }),
  ],
  [
    '409 owner before the connection and the window',
    409,
    'OWNER_MISMATCH',
    async (world) => {
      await world.db.sql`update connections set state = 'paused' where id = ${world.connectionId}`
      return { id: (await world.conversation(closed)).id, options: { body: text(' ') } }
    },
  ],
  [
    "409 owner for another agent's conversation",
    409,
    'OWNER_MISMATCH',
    async ({ conversation, addKey }) => {
      const other = await addKey()
      return { id: (await conversation({ owner: agent(other.id) })).id, options: {} }
    },
  ],
  [
    '409 connection before the acknowledgement',
    409,
    'CONNECTION_UNAVAILABLE',
    async (world) => {
      const connectionId = await world.addConnection('unofficial')
      await world.db.sql`update connections set state = 'unavailable' where id = ${connectionId}`
      const { id } = await world.conversation({
        ...closed,
        connectionId,
        channel: 'unofficial',
        owner: agent(world.keyId),
      })
      return { id, options: { body: text(' ') } }
    },
  ],
  [
    '409 connection for one that was removed',
    409,
    'CONNECTION_UNAVAILABLE',
    async (world) => {
      await world.db.sql`update connections set removed_at = ${noon} where id = ${world.connectionId}`
      return { id: (await world.conversation()).id, options: {} }
    },
  ],
  [
    '409 acknowledgement before the window',
    409,
    'ACKNOWLEDGEMENT_REQUIRED',
    async (world) => {
      const connectionId = await world.addConnection('unofficial')
      const { id } = await world.conversation({
        ...closed,
        connectionId,
        channel: 'unofficial',
        owner: agent(world.keyId),
      })
      return { id, options: { body: text(' ') } }
    },
  ],
  [
    '409 acknowledgement once 90 days have passed',
    409,
    'ACKNOWLEDGEMENT_REQUIRED',
    async (world) => {
      const connectionId = await world.addConnection('unofficial')
      const at = new Date(noon.getTime() - 90 * 86_400_000)
      await world.db.sql`update connections set acknowledged_at = ${at} where id = ${connectionId}`
      return { id: (await world.conversation({ connectionId, channel: 'unofficial' })).id, options: {} }
    },
  ],
  [
    '422 window before the message',
    422,
    'WINDOW_CLOSED',
    async ({ conversation, keyId }) => ({
      id: (await conversation({ ...closed, owner: agent(keyId) })).id,
      options: { body: text('  ') },
    }),
  ],
  [
    '422 template before the message',
    422,
    'TEMPLATE_NOT_APPROVED',
    async ({ conversation }) => ({
      id: (await conversation()).id,
      options: { body: template({ body_params: ['\n'] }) },
    }),
  ],
  [
    '422 message last',
    422,
    'INVALID_MESSAGE',
    async ({ conversation }) => ({ id: (await conversation()).id, options: { body: text(' \n ') } }),
  ],
]

for (const [name, status, code, arrange] of order) {
  test(`checks in order: ${name}`, async () => {
    const world = await sendWorld()
    const { id, options } = await arrange(world)
    const idempotencyKey = freshKey()
    const reply = await world.post(id, { idempotencyKey, ...options })
    assert.deepEqual([reply.status, reply.body.data.code], [status, code], reply.text)
    assert.equal(world.platform.calls.length, 0)
    const stored = await world.db.sql`select 1 from sends where workspace_id = ${world.workspaceId}`
    assert.equal(stored.length, 0)
  })
}

const bodies: [string, unknown][] = [
  ['no object', ['text']],
  ['no kind', { text: 'Hello' }],
  ['no text', { kind: 'text' }],
  ['an empty text', text('')],
  ['16,385 characters', text('x'.repeat(16_385))],
  ['a text that is no string', { kind: 'text', text: 5 }],
  ['a preview_url that is no boolean', { kind: 'text', text: 'a', preview_url: 'yes' }],
  ['an unknown field', { kind: 'text', text: 'a', colour: 'red' }],
  ['a template without a language', { kind: 'template', template: { name: 'a' } }],
  ['51 body_params', template({ body_params: Array(51).fill('a') })],
  ['a parameter of 2,049 characters', template({ body_params: ['x'.repeat(2049)] })],
]
test('a body of a wrong shape is 400 INVALID_REQUEST', async (t) => {
  const { conversation, post } = await sendWorld()
  const { id } = await conversation()
  for (const [name, body] of bodies) {
    await t.test(name, async () => {
      const reply = await post(id, { body })
      assert.deepEqual([reply.status, reply.body.data.code], [400, 'INVALID_REQUEST'], reply.text)
    })
  }
  const unknownParameter = await post(id, { query: { dryRun: 'true' } })
  assert.deepEqual([unknownParameter.status, unknownParameter.body.data.code], [400, 'INVALID_QUERY'])
})

test('16,384 characters are taken, also when each takes two UTF-16 units', async () => {
  const { conversation, post, platform } = await sendWorld()
  const { id } = await conversation()
  assert.equal((await post(id, { body: text('👍'.repeat(16_384)) })).status, 202)
  assert.equal(platform.accepted.map((part) => part.text).join('').length, 32_768)
})

test('a text that is blank for longer than one message of the channel is refused before any call', async () => {
  const { conversation, post, platform } = await sendWorld()
  const { body } = await post((await conversation()).id, { body: text(`a${' '.repeat(9000)}b`) })
  assert.equal(body.data.code, 'INVALID_MESSAGE')
  assert.equal(platform.calls.length, 0)
})

test('the unofficial channel takes long texts whole, once acknowledged', async () => {
  const { conversation, post, platform, addConnection, db } = await sendWorld()
  const connectionId = await addConnection('unofficial')
  await db.sql`update connections set acknowledged_at = ${noon} where id = ${connectionId}`
  const { id } = await conversation({ connectionId, channel: 'unofficial' })
  assert.equal((await post(id, { body: text('word '.repeat(2000)) })).status, 202)
  assert.equal(platform.calls.length, 1)
  assert.equal((await post(id, { body: template() })).body.data.code, 'TEMPLATE_NOT_APPROVED')
})

test('a template opens a conversation whose window is closed, and is stored as the customer reads it', async () => {
  const world = await sendWorld()
  await addTemplate(world, { names: ['first_name', 'order'] })
  const { id } = await world.conversation({ windowExpiresAt: null })
  const reply = await world.post(id, { body: template({ language: 'en-US' }) })
  assert.equal(reply.status, 202, reply.text)
  assert.deepEqual(world.platform.calls[0]?.message, {
    kind: 'template',
    name: 'order_update',
    language: 'en_US',
    parameters: ['Ana', 'A-17'],
    names: ['first_name', 'order'],
  })
  const [event] = await world.events(id)
  assert.equal(event?.payload.message.text, 'Hi Ana, order A-17 is on its way, Ana.')
})

const notSendable: [Record<string, unknown>, RegExp][] = [
  [{ status: 'PAUSED' }, /^The platform has not approved this template/],
  [{ bodyOnly: false }, /^This template is approved, but needs more than body parameters/],
  [{ name: 'another' }, /^No template of this connection has this name and language/],
]
for (const [fields, why] of notSendable) {
  test(`a template that cannot be sent says why: ${JSON.stringify(fields)}`, async () => {
    const world = await sendWorld()
    await addTemplate(world, fields)
    const reply = await world.post((await world.conversation()).id, { body: template() })
    assert.deepEqual([reply.status, reply.body.data.code], [422, 'TEMPLATE_NOT_APPROVED'])
    assert.match(reply.body.statusMessage, why)
  })
}

test('who does not own a conversation is told whose it is, and is not shown the way past people', async () => {
  const world = await sendWorld()
  const peoples = await world.post((await world.conversation({ owner: human })).id)
  assert.match(peoples.body.statusMessage, /owner is human/)
  assert.doesNotMatch(peoples.body.statusMessage, /PATCH|take/i)
  const { id } = await world.addKey()
  const others = await world.post((await world.conversation({ owner: agent(id) })).id)
  assert.match(others.body.statusMessage, new RegExp(`owner is agent:${id}`))
})

test('what the platform would refuse in a template is 422 INVALID_MESSAGE before any call', async (t) => {
  const world = await sendWorld()
  await addTemplate(world)
  const { id } = await world.conversation()
  for (const body_params of [
    ['Ana'],
    ['a', 'b', 'c'],
    [],
    ['', 'b'],
    [' ', 'b'],
    ['a\nb', 'b'],
    ['a\tb', 'b'],
    ['a     b', 'b'],
  ]) {
    await t.test(JSON.stringify(body_params), async () => {
      const reply = await world.post(id, { body: template({ body_params }) })
      assert.deepEqual([reply.status, reply.body.data.code], [422, 'INVALID_MESSAGE'], reply.text)
    })
  }
  assert.equal(world.platform.calls.length, 0)
})
