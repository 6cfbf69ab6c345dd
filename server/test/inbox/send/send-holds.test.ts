import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../../src/base/id.ts'
import { applyAcceptance, applyPlatformSignal, applyRefusal } from '../../../src/channels/health/platform-signals.ts'
import { effectOfCode } from '../../../src/channels/waba/errors.ts'
import { noon, sendWorld } from '../../support/inbox/send-world.ts'

const closed = { windowExpiresAt: new Date(noon.getTime() - 1) }
const open = { windowExpiresAt: new Date(noon.getTime() + 24 * 3_600_000) }
const marketing = { kind: 'template', template: { name: 'offer', language: 'en_US', body_params: [] } }
const utility = { kind: 'template', template: { name: 'update', language: 'en_US', body_params: [] } }

/** A node whose refusals update its connection, as in the service. */
async function holdsWorld() {
  const w = await sendWorld()
  const { db, workspaceId, connectionId, node, clock } = w
  const deps = { db, clock }
  node.deps.recordRefusal = (connection, effect, code) => applyRefusal(deps, connection, effect, code)
  node.deps.recordAcceptance = (connection, reason) => applyAcceptance(deps, connection, reason)
  for (const [name, category] of [
    ['offer', 'MARKETING'],
    ['update', 'UTILITY'],
  ] as const) {
    await db.sql`
      insert into templates (
        workspace_id, connection_id, id, name, language, category, status, body, parameter_count, body_only, synced_at
      )
      values (
        ${workspaceId}, ${connectionId}, ${newId(noon)}, ${name}, 'en_US', ${category}, 'APPROVED', 'Hi', 0, true, ${noon}
      )`
  }
  const [answering, shut] = [await w.conversation(open), await w.conversation(closed)]
  const said = async (id: string, body?: unknown) => {
    const { status, body: answer } = await w.post(id, body === undefined ? {} : { body })
    return `${status} ${answer.data?.code ?? answer.status}`
  }
  return {
    ...w,
    open: answering,
    shut,
    said,
    text: () => said(answering.id),
    offer: () => said(shut.id, marketing),
    fail: (code: string) =>
      w.platform.answers.push({ outcome: 'refused', errorCode: code, effect: effectOfCode(code) }),
    pass: (minutes: number) => clock.advance(minutes * 60_000),
    state: async () => {
      const [row] = await db.sql<{ state: string; reason: string | null }[]>`
        select state, state_reason as reason from connections where id = ${connectionId}`
      return `${row?.state} ${row?.reason}`
    },
    calls: () => w.platform.calls.length,
  }
}
const held = '409 CONNECTION_UNAVAILABLE'

test('a payment failure fails its message, holds charged messages, and the next template after a pause probes the hold', async () => {
  const w = await holdsWorld()
  w.fail('131042')
  const first = await w.post(w.shut.id, { body: marketing })
  assert.equal(first.body.status, 'failed')
  assert.equal((await w.message(first.body.message_id))?.error_code, '131042')
  assert.equal(await w.state(), 'active null')
  const before = w.calls()
  const refused = await w.post(w.shut.id, { body: marketing })
  assert.deepEqual([refused.status, refused.body.data.code], [409, 'CONNECTION_UNAVAILABLE'])
  assert.match(refused.body.error ?? refused.body.message ?? JSON.stringify(refused.body), /payment/)
  assert.equal(await w.said(w.shut.id, utility), held)
  assert.equal(await w.said(w.open.id, marketing), held)
  assert.equal(w.calls(), before, 'nothing held reaches the platform')
  assert.equal(await w.text(), '202 sent')
  assert.equal(await w.said(w.open.id, utility), held, 'also charged in the window')
  w.pass(5)
  w.fail('131042')
  assert.equal(await w.offer(), '202 failed')
  w.pass(9)
  assert.equal(await w.offer(), held, 'the pause has doubled')
  w.pass(1)
  assert.equal(await w.offer(), '202 sent')
  assert.equal(await w.offer(), '202 sent')
})

test('of many sends that could probe a hold one goes to the platform', async () => {
  const w = await holdsWorld()
  w.fail('131042')
  await w.offer()
  w.pass(5)
  const before = w.calls()
  const more = await Promise.all(Array.from({ length: 4 }, () => w.conversation(closed)))
  // The platform answers when the others are refused: its answer ends the hold.
  const { promise: areRefused, resolve: answer } = Promise.withResolvers<void>()
  w.platform.onCall = () => (w.calls() > before + 1 ? answer() : areRefused)
  let refused = 0
  const answers = await Promise.all(
    more.map(async ({ id }) => {
      const said = await w.said(id, marketing)
      if (said === held && ++refused === more.length - 1) answer()
      return said
    }),
  )
  assert.deepEqual(answers.sort(), ['202 sent', held, held, held])
  assert.equal(w.calls(), before + 1)
})

test('a code that stops everything makes the connection unavailable until one send after a pause is accepted', async () => {
  for (const [code, minutes] of [
    ['131031', 60],
    ['368', 60],
    ['131037', 60],
    ['131045', 10],
    ['133010', 10],
  ] as const) {
    const w = await holdsWorld()
    w.fail(code)
    assert.equal(await w.text(), '202 failed')
    assert.equal(await w.state(), `unavailable platform_error_${code}`)
    const before = w.calls()
    w.pass(minutes - 1)
    assert.deepEqual([await w.text(), await w.offer()], [held, held], code)
    assert.equal(w.calls(), before)
    w.pass(1)
    assert.equal(await w.text(), '202 sent', code)
    assert.equal(await w.state(), 'active null')
    assert.equal(await w.offer(), '202 sent')
  }
})

test('a connection made unavailable before holds existed is probed as well', async () => {
  const w = await holdsWorld()
  await w.db.sql`
    update connections
    set state = 'unavailable', state_reason = 'platform_error_131042', state_changed_at = ${noon}
    where id = ${w.connectionId}`
  assert.equal(await w.text(), held)
  w.pass(5)
  assert.equal(await w.text(), '202 sent')
  assert.equal(await w.state(), 'active null')
})

test('rejected credentials are not probed by sends: the number is checked', async () => {
  const w = await holdsWorld()
  w.fail('190')
  await w.text()
  w.pass(600)
  const before = w.calls()
  assert.equal(await w.text(), held)
  assert.equal(w.calls(), before)
})

test('an account that cannot start conversations can still answer, and one that cannot answer can send templates', async () => {
  const w = await holdsWorld()
  const receiver = { workspaceId: w.workspaceId, id: w.connectionId }
  const until = new Date(noon.getTime() + 3_000_000)
  const tell = (stops: 'initiated' | 'replies') =>
    applyPlatformSignal({ db: w.db, clock: w.clock }, receiver, {
      type: 'account_restricted',
      all: [{ stops, reason: `account_restricted_${stops}`, until }],
    })
  await tell('initiated')
  assert.deepEqual([await w.text(), await w.offer()], ['202 sent', held])
  await tell('replies')
  assert.deepEqual([await w.text(), await w.offer()], [held, '202 sent'])
  w.pass(50)
  assert.equal(await w.text(), '202 sent')
})
