import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSpread } from '../../../src/base/distribution/spread.ts'
import type { Conversation } from '../../../src/inbox/conversation/conversation.ts'
import { statementsOf } from '../../support/database.ts'
import { freshKey, noon, type Reply, type SendWorld, sendWorld, text } from '../../support/inbox/send-world.ts'
import { forgetStatistics, waysTo } from '../../support/plans.ts'
import { until } from '../../support/until.ts'

const many = <T>(count: number, make: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => make(n)))

/** Lets nobody's call end before so many have come. */
function meetAtPlatform({ platform }: SendWorld, count: number): void {
  const { promise: allAreThere, resolve } = Promise.withResolvers<void>()
  platform.onCall = () => {
    if (platform.calls.length >= count) resolve()
    return allAreThere
  }
}

const codeOf = ({ status, body }: Reply): string => `${status} ${body.data?.code ?? body.status ?? body.statusMessage}`

test('40 sends to 40 conversations at once take a handful of statements, and each is one call, one event, one answer', async () => {
  const world = await sendWorld()
  let statements = 0
  const node = await world.addNode({ onStatement: () => void statements++ })
  const lastMessageAt = new Date(noon.getTime() - 1)
  const conversations = await many(41, () => world.conversation({ lastMessageAt }))
  // The key and the secrets are known from here on.
  await world.post(conversations.pop()?.id ?? '', { node })
  statements = 0
  world.platform.calls.length = 0
  meetAtPlatform(world, 40)
  const replies = await Promise.all(conversations.map(({ id }) => world.post(id, { node, body: text(id) })))
  assert.ok(replies.every(({ status, body, isReplay }) => status === 202 && body.status === 'sent' && !isReplay))
  // The first two go alone and all others with the third: eight statements to reserve them, and one that holds the rules where rows are
  // spread; seven to settle.
  assert.ok(statements <= 3 * ((isSpread(world.db.sql) ? 9 : 8) + 7), `${statements} statements`)
  assert.equal(world.platform.calls.length, 40)
  for (const [n, { id, contact }] of conversations.entries()) {
    const sent = world.platform.accepted.filter(({ to }) => to === contact.phone)
    assert.deepEqual(
      sent.map(({ text: words, correlator }) => [words, correlator]),
      [[id, `${replies[n]?.body.message_id}:1`]],
    )
    const told = await world.events(id)
    assert.deepEqual(
      told.map(({ name, payload }) => [name, payload.message.text]),
      [['inbox.message.sent', id]],
    )
  }
  const left = await world.db.sql`select from dispatches where workspace_id = ${world.workspaceId}`
  assert.equal(left.length, 0)
})

test('40 sends to one conversation at once reach the platform in the order in which the thread shows them', async () => {
  const world = await sendWorld()
  const { id } = await world.conversation()
  const replies = await many(40, (n) => world.post(id, { body: text(`${n}`) }))
  assert.ok(replies.every(({ status }) => status === 202))
  const thread = await world.db.sql<{ id: string }[]>`
    select id from messages where conversation_id = ${id} order by occurred_at`
  assert.deepEqual(
    world.platform.accepted.map(({ correlator }) => correlator.slice(0, 36)),
    thread.map((row) => row.id),
  )
  assert.equal(thread.length, 40)
})

test('of equal Idempotency-Keys among sends at once one wins, and the others get its answer or are refused', async () => {
  const world = await sendWorld()
  const conversations = await many(8, () => world.conversation())
  const keys = conversations.map(() => freshKey())
  const wanted = (n: number) => (n < 24 ? 'same' : 'altered')
  const replies = await many(32, (n) => {
    const id = conversations[n % 8]?.id ?? ''
    return world.post(id, { idempotencyKey: keys[n % 8] ?? '', body: text(wanted(n)) })
  })
  assert.equal(world.platform.calls.length, 8)
  for (let of = 0; of < 8; of++) {
    const mine = replies.flatMap((reply, n) => (n % 8 === of ? [{ ...reply, wanted: wanted(n) }] : []))
    // Which of them comes to the database first is open.
    const winner = mine.find(({ status, isReplay }) => status === 202 && !isReplay)
    for (const one of mine) {
      const isSame = one.wanted === winner?.wanted
      const expected = one === winner ? [202, false] : isSame ? [202, true] : [422, false]
      assert.deepEqual([one.status, one.isReplay], expected)
      if (isSame) assert.equal(one.text, winner?.text)
    }
  }
})

test('a send that is refused gets the answer that it would have got alone, while those beside it are sent', async () => {
  const world = await sendWorld()
  const paused = await world.addConnection()
  await world.db.sql`update connections set state = 'paused' where id = ${paused}`
  const elsewhere = await world.addConnection()
  const bound = await world.addKey([world.connectionId])
  const template = { kind: 'template', template: { name: 'nobody_knows', language: 'en' } }
  const nobody = { name: null, phone: null, userId: null, parentUserId: null, address: { phone: null, userId: null } }
  const cases: [string, Partial<Conversation> | null, object?][] = [
    ['202 sent', {}],
    ['409 OWNER_MISMATCH', { owner: { type: 'human' } }],
    ['422 WINDOW_CLOSED', { windowExpiresAt: noon }],
    ['409 CONNECTION_UNAVAILABLE', { connectionId: paused }],
    ['422 INVALID_MESSAGE', {}, { body: text('  ') }],
    ['422 INVALID_MESSAGE', { contact: nobody }],
    ['422 TEMPLATE_NOT_APPROVED', {}, { body: template }],
    ['422 UNSUPPORTED_KIND', {}, { body: { kind: 'interactive' } }],
    ['404 Not found', null],
    ['404 Not found', { connectionId: elsewhere, owner: { type: 'agent', keyId: bound.id } }, { key: bound.value }],
    ['400 INVALID_REQUEST', {}, { body: { kind: 'text' } }],
    ['400 IDEMPOTENCY_KEY_REQUIRED', {}, { idempotencyKey: null }],
    ['202 sent', {}],
  ]
  const asked = await Promise.all(
    [...cases, ...cases].map(async ([code, settings, options]) => {
      const id = settings === null ? freshKey() : (await world.conversation(settings)).id
      return { code, id, options }
    }),
  )
  const together = await Promise.all(asked.map(({ id, options }) => world.post(id, options)))
  const plain = (reply: Reply) => codeOf(reply).replace(/^404 .*/, '404 Not found')
  assert.deepEqual(
    together.map(plain),
    asked.map(({ code }) => code),
  )
  for (const [n, { id, code, options }] of asked.slice(0, cases.length).entries()) {
    if (code === '202 sent') continue
    const alone = await world.post(id, options)
    assert.deepEqual([alone.status, alone.text], [together[n]?.status, together[n]?.text])
  }
  assert.equal(world.platform.calls.length, 4)
})

test('what cannot be read of one conversation fails its own sends alone', async () => {
  const world = await sendWorld()
  const conversations = await many(12, () => world.conversation())
  await world.db.sql`update conversations set contact = ${Buffer.alloc(40)} where id = ${conversations[7]?.id ?? ''}`
  const replies = await Promise.all(conversations.map(({ id }) => world.post(id)))
  assert.deepEqual(
    replies.map(({ status }) => status),
    conversations.map((_, n) => (n === 7 ? 500 : 202)),
  )
  assert.equal(world.platform.calls.length, 11)
})

test('a conversation that somebody holds keeps its own sends waiting, and no others: neither before the call nor after', async () => {
  const world = await sendWorld()
  const node = await world.addNode()
  const [before, after, ...others] = await many(12, () => world.conversation())
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const holding: Promise<void>[] = []
  const hold = (id = '') => {
    const { promise: isHeld, resolve } = Promise.withResolvers<void>()
    const held = world.db.tx(async (tx) => {
      await tx`select from conversations where workspace_id = ${world.workspaceId} and id = ${id} for update`
      resolve()
      await released
    })
    holding.push(held)
    return isHeld
  }
  await hold(before?.id)
  world.platform.onCall = async ({ recipient }) => {
    if (recipient.phone === after?.contact.phone) await hold(after?.id)
  }
  let waiting = 2
  const late = [before, after].map((one) => world.post(one?.id ?? '', { node }).finally(() => waiting--))
  const replies = await Promise.all(others.map(({ id }) => world.post(id, { node })))
  assert.ok(replies.every(({ body }) => body.status === 'sent'))
  await until(() => world.platform.accepted.length === 11, 'the call of the one that is held after it')
  assert.equal(waiting, 2)
  release()
  assert.ok((await Promise.all(late)).every(({ body }) => body.status === 'sent'))
  await Promise.all(holding)
})

test('a call is not allowed together with its reservation while a change of owner waits for the calls under way', async () => {
  const world = await sendWorld()
  const { id } = await world.conversation()
  await world.db.sql`
    update conversations set starts_held_until = statement_timestamp() + interval '200 ms' where id = ${id}`
  const held: boolean[] = []
  world.platform.onCall = async () => {
    const [row] = await world.db.sql`
      select starts_held_until > clock_timestamp() as is_held from conversations where id = ${id}`
    held.push(row?.is_held)
  }
  assert.equal((await world.post(id)).body.status, 'sent')
  assert.deepEqual(held, [false])
})

test('sends at once take their places in line as they would one by one', async () => {
  const world = await sendWorld()
  world.node.deps.pacesOf = () => ({ connection: { burst: 4, everyMs: 40 }, pair: { burst: 100, everyMs: 1 } })
  const startedAt = performance.now()
  const conversations = await many(12, () => world.conversation())
  const replies = await Promise.all(conversations.map(({ id }) => world.post(id)))
  assert.ok(replies.every(({ body }) => body.status === 'sent'))
  const times = world.platform.accepted.map(({ at }) => at).sort((a, b) => a - b)
  assert.ok((times.at(-1) ?? 0) - startedAt >= 8 * 40 - 20, 'the last waits for its place')
})

test('used keys are found by their index alone, whatever the database knows of how many there are', async () => {
  const world = await sendWorld()
  const conversations = await many(60, () => world.conversation())
  // So long that their index is higher than the others of the table.
  const keys = conversations.map(() => freshKey().padEnd(200, '.'))
  const statements = await statementsOf(async () => {
    const replies = await many(60, (n) => world.post(conversations[n]?.id ?? '', { idempotencyKey: keys[n] ?? '' }))
    assert.ok(replies.every(({ status }) => status === 202))
  })
  const looks = statements.filter(({ text: words }) => /with ordinality[\s\S]*from sends\b/.test(words))
  assert.equal(looks.length, 1)
  for (const look of looks) {
    assert.deepEqual(await waysTo(world.db, look, 'sends'), ['sends_pkey'])
    await forgetStatistics(world.db, ['sends'])
    assert.deepEqual(await waysTo(world.db, look, 'sends'), ['sends_pkey'])
  }
})
