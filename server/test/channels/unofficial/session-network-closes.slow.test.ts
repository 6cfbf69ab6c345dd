import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type BehaviourWorld, begun, behaviourWorld } from '../../support/channels/behaviour-world.ts'
import { phoneRig } from '../../support/channels/rigs.ts'
import { until } from '../../support/until.ts'

// Slow: the loops that hold sessions run at their own pauses. What each code means is a table in session-disconnect.test.ts, and
// what becomes of a session by it is tested in session-close.test.ts.

interface Shop extends BehaviourWorld {
  path: string
  conversationId: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape, and fail where one is wrong
  session(): Promise<any>
  advice(): Promise<string[]>
  /** The network closes the socket with this code, and so many that open after it. */
  drop(code: number, again?: number): Promise<void>
  /** How many sockets the network has seen opened. */
  sockets(): Promise<number>
  comesTo(state: string): Promise<void>
}

async function shop(): Promise<Shop> {
  const w = await behaviourWorld(phoneRig)
  const { id: conversationId } = await begun(w)
  const path = `/connections/${w.line.connectionId}`
  const session = async () => (await w.team('GET', `${path}/session`)).body.session
  const { phone } = await session()
  const { phones } = await w.simulate('GET', 'phones')
  const { numberId } = phones.find((one: { phone: string }) => one.phone === phone)
  return {
    ...w,
    path,
    conversationId,
    session,
    // What concerns the line, not the agent, whom nobody has started yet.
    advice: async () => {
      const { advice } = (await w.team('GET', `${path}/health`)).body.health
      const codes = advice.map(({ code }: { code: string }) => code)
      return codes.filter((code: string) => code !== 'agent_never_used')
    },
    drop: (code, again = 0) => w.simulate('POST', `phones/${numberId}/drop`, { code, again }),
    sockets: async () => {
      const { entries } = await w.simulate('GET', 'journal')
      return entries.filter(({ path: at }: { path: string }) => at === '/linked/sockets').length
    },
    comesTo: (state) => until(async () => (await session()).state === state, `a session that is ${state}`),
  }
}

async function assertUnavailable(w: Shop, reason: string): Promise<void> {
  const { state, stateReason } = (await w.team('GET', w.path)).body.connection
  assert.deepEqual([state, stateReason], ['unavailable', reason])
  const { status, body } = await w.send(w.conversationId, 'x')
  assert.deepEqual([status, body.data.code], [409, 'CONNECTION_UNAVAILABLE'])
  // The risk is confirmed still: only the next pairing voids that.
  assert.deepEqual(await w.advice(), [reason])
}

async function assertOpen(w: Shop): Promise<void> {
  await w.comesTo('open')
  assert.partialDeepStrictEqual(await w.session(), { reason: null, paired: true, nextAttemptAt: null })
  assert.equal((await w.team('GET', w.path)).body.connection.state, 'active')
  assert.equal((await w.send(w.conversationId, 'x')).body.status, 'sent')
  assert.deepEqual(await w.advice(), [])
}

test('428: unavailable for a while, then tried again by itself until it is open', async () => {
  const w = await shop()
  const before = await w.sockets()
  await w.drop(428, 2)
  await w.comesTo('waiting')
  await assertUnavailable(w, 'reconnecting')
  await until(async () => {
    await w.later(10_000)
    return (await w.sockets()) === before + 3
  }, 'the third socket')
  await assertOpen(w)
})

test('401: stopped as logged_out, until the phone is paired anew and the risk confirmed', async () => {
  const w = await shop()
  await w.drop(401)
  await w.comesTo('stopped')
  assert.partialDeepStrictEqual(await w.session(), { reason: 'logged_out', paired: false, nextAttemptAt: null })
  await assertUnavailable(w, 'logged_out')
  const resumed = await w.team('POST', `${w.path}/resume`)
  assert.equal(resumed.body.connection.stateReason, 'logged_out')
  await w.line.takeBack()
  assert.equal((await w.send(w.conversationId, 'x')).body.data.code, 'ACKNOWLEDGEMENT_REQUIRED')
  assert.deepEqual(await w.advice(), ['acknowledgement_required'])
  assert.equal((await w.member.call('POST', `${w.path}/acknowledge`)).status, 200)
  await assertOpen(w)
})
