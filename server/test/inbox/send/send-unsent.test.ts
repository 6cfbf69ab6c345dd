import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../../src/base/errors.ts'
import { runStep } from '../../../src/base/run-step.ts'
import { type SendRequest, sendMessage } from '../../../src/inbox/send/send.ts'
import { type SendStep, sendSteps } from '../../../src/inbox/send/send-deps.ts'
import { settleStrandedSends } from '../../../src/inbox/send/settle-parts.ts'
import { afterStep } from '../../support/after-step.ts'
import { gate } from '../../support/inbox/gate.ts'
import { freshKey, type SendWorld, sendWorld, text } from '../../support/inbox/send-world.ts'

const [reserved, noted] = [sendSteps.indexOf('reserve'), sendSteps.indexOf('record')]
/** Steps after which a call is allowed; and the earlier ones after which the send exists. */
const allowed: SendStep[] = ['allow', 'call']
const unsent = sendSteps.slice(reserved, noted).filter((step) => !allowed.includes(step))

interface UnsentWorld extends SendWorld {
  request: SendRequest
  send(): Promise<{ status: number; body: string }>
  /** Returns the messages of the conversation as `status error code`. */
  outcomes(): Promise<string[]>
}

/** Uses a member's request, which asks for permission to start after the reservation. */
async function unsentWorld(what: object | 'file' = text()): Promise<UnsentWorld> {
  const world = await sendWorld()
  const { db, node, member } = world
  const { id } = await world.conversation()
  const body = what === 'file' ? { kind: 'media', upload_id: await world.upload(id) } : what
  const request = { conversationId: id, idempotencyKey: freshKey(), body }
  return {
    ...world,
    request,
    send: () => sendMessage(node.deps, member, request),
    outcomes: async () => {
      const rows = await db.sql`select status, error_code from messages where conversation_id = ${id}`
      return rows.map(({ status, error_code }) => `${status} ${error_code}`)
    },
  }
}

/** Simulates the time after which a silent process counts as dead. */
async function countAsDead({ db, request }: UnsentWorld): Promise<void> {
  await db.sql`
    update dispatches
    set alive_until = statement_timestamp() - interval '1 ms'
    where conversation_id = ${request.conversationId}`
}

/** Sends from a process that dies after this occurrence of the step. */
async function dieAfter(world: UnsentWorld, last: SendStep, passing = 1): Promise<void> {
  const dead = new Error('dead')
  let passings = 0
  world.node.deps.step = afterStep((step) => {
    if (step === last && ++passings === passing) throw dead
  })
  await assert.rejects(world.send(), dead)
  world.node.deps.step = runStep
  await countAsDead(world)
}

/** Request that runs this step. */
const passes = (step: SendStep) => (step === 'upload' ? 'file' : text())

const ways = {
  'a repeat of its key': (world: UnsentWorld) => world.send(),
  'the watch': async (world: UnsentWorld) => assert.equal(await settleStrandedSends(world.node.deps), 1),
}
for (const step of unsent) {
  for (const [who, look] of Object.entries(ways)) {
    test(`a send whose process died after "${step}" fails as not sent as soon as it counts as dead: found by ${who}`, async () => {
      const world = await unsentWorld(passes(step))
      await dieAfter(world, step)
      await look(world)
      assert.deepEqual(await world.outcomes(), ['failed not_sent'])
      const { status, body } = await world.send()
      assert.deepEqual([status, JSON.parse(body).status], [202, 'failed'])
      assert.equal(await settleStrandedSends(world.node.deps), 0)
      assert.equal((await world.send()).body, body)
      const sent = (await world.events(world.request.conversationId)).filter(
        ({ name }) => name === 'inbox.message.sent',
      )
      assert.deepEqual(
        sent.map(({ payload }) => payload.message.status),
        ['failed'],
      )
      assert.equal(world.platform.calls.length, 0)
    })
  }

  test(`a slow process sends nothing once others have settled its send after "${step}"`, async () => {
    const world = await unsentWorld(passes(step))
    const { pass, reached, open } = gate()
    world.node.deps.step = afterStep((one) => (one === step ? pass() : undefined))
    const sending = world.send()
    await reached
    await countAsDead(world)
    assert.equal(await settleStrandedSends(world.node.deps), 1)
    open()
    const { status, body } = await sending
    assert.deepEqual([status, JSON.parse(body).status], [202, 'failed'])
    assert.deepEqual(await world.outcomes(), ['failed not_sent'])
    assert.equal(world.platform.calls.length, 0)
  })
}

test('a process that uploads a file renews its lease and does not count as dead', async () => {
  const world = await unsentWorld('file')
  const { db, node, request, platform } = world
  const { pass, reached, open: take } = gate()
  platform.onUpload = pass
  node.deps.renewEveryMs = 5
  let onWord = () => {}
  node.deps.db = { ...db, tx: (...work) => db.tx(...work).finally(() => onWord()) }
  const word = () => new Promise<void>((resolve) => (onWord = resolve))
  const sending = world.send()
  await reached
  await db.sql`
    update dispatches
    set alive_until = statement_timestamp() + interval '10 s'
    where conversation_id = ${request.conversationId}`
  // The first one may still have been in progress.
  for (const _ of [1, 2]) await word()
  const alive = await db.sql`
    select from dispatches
    where conversation_id = ${request.conversationId}
      and alive_until > statement_timestamp() + interval '10 s'`
  assert.equal(alive.length, 1)
  assert.equal(await settleStrandedSends(node.deps), 0)
  take()
  assert.equal(JSON.parse((await sending).body).status, 'sent')
  assert.deepEqual(await world.outcomes(), ['sent null'])
})

for (const step of allowed) {
  test(`a send whose process died after "${step}" may have been sent: its result is unknown for ten minutes`, async () => {
    const world = await unsentWorld()
    await dieAfter(world, step)
    assert.equal(await settleStrandedSends(world.node.deps), 0)
    await assert.rejects(world.send(), (error) => error instanceof ApiError && error.data?.code === 'NOT_RETRYABLE')
    world.clock.advance(10 * 60_000)
    assert.equal(await settleStrandedSends(world.node.deps), 1)
    assert.deepEqual(await world.outcomes(), ['failed outcome_unknown'])
  })
}

test('a send allowed to start with its reservation may have been sent as soon as it is reserved', async () => {
  const world = await unsentWorld()
  const { id } = await world.conversation()
  world.node.deps.step = afterStep((step) => {
    if (step === 'reserve') throw new Error('dead')
  })
  const idempotencyKey = freshKey()
  assert.equal((await world.post(id, { idempotencyKey })).status, 500)
  world.node.deps.step = runStep
  await countAsDead({ ...world, request: { ...world.request, conversationId: id } })
  assert.equal((await world.post(id, { idempotencyKey })).body.data.code, 'NOT_RETRYABLE')
  world.clock.advance(10 * 60_000)
  assert.equal(await settleStrandedSends(world.node.deps), 1)
})

test('a long text whose process died between two parts fails: the rest was not sent', async () => {
  const world = await unsentWorld(text('word '.repeat(1500)))
  await dieAfter(world, 'record')
  const { status, body } = await world.send()
  assert.deepEqual([status, JSON.parse(body).status], [202, 'failed'])
  assert.deepEqual(await world.outcomes(), ['failed not_sent'])
  const parts = await world.db.sql`
    select part, status, error_code
    from message_parts
    where workspace_id = ${world.workspaceId}
    order by part`
  assert.deepEqual(
    parts.map((part) => [part.part, part.status, part.error_code]),
    [
      [1, 'sent', null],
      [2, 'failed', 'not_sent'],
    ],
  )
  assert.equal(world.platform.calls.length, 1)
})

test('whether a slow send may start or has failed is decided once, in any order', async () => {
  const world = await unsentWorld()
  const { db, node } = world
  const rounds = Array.from({ length: 12 }, async (_, n) => {
    const { id } = await world.conversation()
    const request = { ...world.request, conversationId: id, idempotencyKey: freshKey(), body: text(`Round ${n}`) }
    const { pass, reached, open: resume } = gate()
    const step = afterStep<SendStep>((one) => (one === 'awaitRate' ? pass() : undefined))
    const sending = sendMessage({ ...node.deps, step }, world.member, request)
    await reached
    const dies = { ...world, request }
    const [first, second] = n % 2 === 0 ? [countAsDead(dies), resume()] : [resume(), countAsDead(dies)]
    await Promise.all([first, second, settleStrandedSends(node.deps)])
    return { id, text: `Round ${n}`, answer: JSON.parse((await sending).body) }
  })
  const ended = await Promise.all(rounds)
  const arrived = new Set(world.platform.accepted.map((one) => one.text))
  for (const { id, text: sent, answer } of ended) {
    const [message] = await db.sql`select status from messages where conversation_id = ${id}`
    const expected = arrived.has(sent) ? 'sent' : 'failed'
    assert.deepEqual([answer.status, message?.status], [expected, expected], sent)
  }
  assert.equal(arrived.size, world.platform.accepted.length)
})
