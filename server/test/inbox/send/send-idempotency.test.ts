import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseIdempotencyKey } from '../../../src/inbox/send/send-command.ts'
import { freshKey, type Reply, sendWorld, text } from '../../support/inbox/send-world.ts'

const headers: [string, string | undefined, string][] = [
  ['a raw token', 'order-17', 'order-17'],
  ['a quoted string', '"order-17"', 'order-17'],
  ['escapes in a quoted string', '"say \\"hi\\" \\\\"', 'say "hi" \\'],
  ['blanks around it', '  order 17 ', 'order 17'],
  ['255 characters', 'x'.repeat(255), 'x'.repeat(255)],
  ['256 characters', 'x'.repeat(256), 'INVALID'],
  ['an empty quoted string', '""', 'INVALID'],
  ['an open quote', '"order', 'INVALID'],
  ['a bare quote inside', '"or"der"', 'INVALID'],
  ['a letter beyond ASCII', 'ordém', 'INVALID'],
  ['nothing', '', 'REQUIRED'],
  ['blanks only', '  ', 'REQUIRED'],
  ['no header', undefined, 'REQUIRED'],
]
for (const [name, header, expected] of headers) {
  test(`an Idempotency-Key is parsed: ${name}`, () => {
    if (expected === 'INVALID') assert.throws(() => parseIdempotencyKey(header), { statusCode: 400, part: 'headers' })
    else if (expected === 'REQUIRED') {
      assert.throws(() => parseIdempotencyKey(header), { data: { code: 'IDEMPOTENCY_KEY_REQUIRED' } })
    } else assert.equal(parseIdempotencyKey(header), expected)
  })
}

test('any printable key means the same raw and quoted', () => {
  const printable = fc.string({
    minLength: 1,
    maxLength: 255,
    unit: fc.integer({ min: 0x21, max: 0x7e }).map((n) => String.fromCharCode(n)),
  })
  fc.assert(
    fc.property(printable, (key) => {
      const quoted = `"${key.replaceAll(/["\\]/g, '\\$&')}"`
      assert.equal(parseIdempotencyKey(quoted), key)
      if (!key.startsWith('"')) assert.equal(parseIdempotencyKey(key), key)
    }),
  )
})

test('a repeat sends nothing and returns the first response byte for byte, marked as replayed', async () => {
  const { conversation, post, platform, events, addNode } = await sendWorld()
  const other = await addNode()
  const { id } = await conversation()
  const idempotencyKey = freshKey()
  const first = await post(id, { idempotencyKey })
  const body = { text: 'Hello', preview_url: false, kind: 'text' }
  for (const options of [{ idempotencyKey }, { idempotencyKey: `"${idempotencyKey}"`, body, node: other }]) {
    const again = await post(id, options)
    assert.deepEqual([again.status, again.text, again.isReplay], [first.status, first.text, true])
  }
  assert.equal(platform.calls.length, 1)
  assert.equal((await events(id)).length, 1)
})

test('a repeat returns the first response also if it was failed; a new key sends again', async () => {
  const { conversation, post, platform } = await sendWorld()
  const { id } = await conversation()
  const idempotencyKey = freshKey()
  platform.behave = () => ({ refuse: '131026' })
  const first = await post(id, { idempotencyKey })
  platform.behave = () => 'accept'
  const again = await post(id, { idempotencyKey })
  assert.deepEqual([again.body.status, again.text], ['failed', first.text])
  assert.equal((await post(id)).body.status, 'sent')
  assert.equal(platform.calls.length, 2)
})

test('a repeat gets its first response whatever has changed since: owner, connection, window', async () => {
  const { conversation, post, db, connectionId, clock } = await sendWorld()
  const { id } = await conversation()
  const idempotencyKey = freshKey()
  const first = await post(id, { idempotencyKey })
  await db.sql`update conversations set owner_key_id = null, owner_epoch = 2 where id = ${id}`
  await db.sql`update connections set state = 'paused' where id = ${connectionId}`
  clock.advance(48 * 3_600_000)
  const again = await post(id, { idempotencyKey })
  assert.deepEqual([again.status, again.text, again.isReplay], [202, first.text, true])
})

test('the same key with another body or conversation is 422 INVALID_MESSAGE, and nothing is sent', async () => {
  const { conversation, post, platform } = await sendWorld()
  const [one, two] = [await conversation(), await conversation()]
  const idempotencyKey = freshKey()
  await post(one.id, { idempotencyKey })
  const preview = { ...text(), preview_url: true }
  const interactive = { kind: 'interactive' }
  for (const [id, body] of [
    [one.id, text('Other')],
    [one.id, preview],
    [one.id, interactive],
    [two.id, text()],
  ] as const) {
    const reply = await post(id, { idempotencyKey, body })
    assert.deepEqual([reply.status, reply.body.data.code], [422, 'INVALID_MESSAGE'], reply.text)
  }
  assert.equal(platform.calls.length, 1)
})

test('keys belong to the API key: two agents can use one value', async () => {
  const { conversation, post, platform, addKey } = await sendWorld()
  const other = await addKey()
  const mine = await conversation()
  const theirs = await conversation({ owner: { type: 'agent', keyId: other.id } })
  assert.equal((await post(mine.id, { idempotencyKey: 'one' })).status, 202)
  assert.equal((await post(theirs.id, { idempotencyKey: 'one', key: other.value })).isReplay, false)
  assert.equal(platform.calls.length, 2)
})

test('a refusal before a message exists stores nothing: the key can be used again', async () => {
  const { conversation, post, db, keyId } = await sendWorld()
  const { id } = await conversation({ owner: { type: 'human' } })
  const idempotencyKey = freshKey()
  assert.equal((await post(id, { idempotencyKey })).status, 409)
  await db.sql`update conversations set owner_key_id = ${keyId} where id = ${id}`
  const reply = await post(id, { idempotencyKey })
  assert.deepEqual([reply.status, reply.isReplay], [202, false])
})

test('a key used concurrently for two conversations sends one of them', async () => {
  const { conversation, post, platform, addNode, node } = await sendWorld()
  const other = await addNode()
  for (let round = 0; round < 4; round++) {
    const [one, two] = [await conversation(), await conversation()]
    const idempotencyKey = freshKey()
    const replies = await Promise.all([
      post(one.id, { idempotencyKey, node }),
      post(two.id, { idempotencyKey, node: other }),
    ])
    assert.deepEqual(replies.map(({ status }) => status).sort(), [202, 422])
    assert.equal(platform.calls.length, round + 1)
  }
})

// `program/two-nodes.test.ts` does the same with two processes; here two pools race within one.
const keys = Number(process.env.IDEMPOTENCY_KEYS ?? 10)

test(`${keys} keys, each sent 50 times at once over two nodes, one in ten altered: as many sends as keys`, async () => {
  const { conversation, post, platform, addNode, node } = await sendWorld()
  const nodes = [node, await addNode()]
  platform.delayMs = 2
  for (let first = 0; first < keys; first += 10) {
    await Promise.all(
      Array.from({ length: Math.min(10, keys - first) }, async () => {
        const { id } = await conversation()
        const idempotencyKey = freshKey()
        const wanted = Array.from({ length: 50 }, (_, n) => (n % 10 === 9 ? 'altered' : 'same'))
        const replies = await Promise.all(
          wanted.map((words, n) => post(id, { idempotencyKey, body: text(words), node: nodes[n % 2] ?? node })),
        )
        assertOneWon(wanted, replies)
      }),
    )
  }
  assert.equal(platform.calls.length, keys)
  assert.equal(new Set(platform.accepted.map(({ correlator }) => correlator)).size, keys)
})

// Whichever body came first, all requests with it get one response, and all others are refused.
function assertOneWon(wanted: string[], replies: Reply[]): void {
  const winner = wanted[replies.findIndex(({ isReplay, status }) => status === 202 && !isReplay)]
  const [won, lost] = [replies.filter((_, n) => wanted[n] === winner), replies.filter((_, n) => wanted[n] !== winner)]
  assert.deepEqual([...new Set(won.map(({ text }) => text))].slice(1), [])
  assert.ok(won.every(({ status }) => status === 202))
  assert.ok(lost.every(({ status, body }) => status === 422 && body.data.code === 'INVALID_MESSAGE'))
}
