import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type BehaviourWorld, behaviourWorld } from '../../support/channels/behaviour-world.ts'
import { phoneRig } from '../../support/channels/phone-rig.ts'
import { until } from '../../support/until.ts'

interface Shop extends BehaviourWorld {
  path: string
  conversationId: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape, and fail where one is wrong
  session(): Promise<any>
  // biome-ignore lint/suspicious/noExplicitAny: as above
  connection(): Promise<any>
  advice(): Promise<{ code: string; text: string }[]>
  /** The network closes the socket with this code, and so many that open after it. */
  drop(code: number, again?: number): Promise<void>
  /** How many sockets the network has seen opened. */
  sockets(): Promise<number>
  comesTo(state: string): Promise<void>
}

async function shop(): Promise<Shop> {
  const w = await behaviourWorld(phoneRig)
  const ana = await w.line.customer()
  await ana.writes('Olá')
  const path = `/connections/${w.line.connectionId}`
  const session = async () => (await w.team('GET', `${path}/session`)).body.session
  const { phone } = await session()
  const { phones } = await w.simulate('GET', 'phones')
  const { numberId } = phones.find((one: { phone: string }) => one.phone === phone)
  return {
    ...w,
    path,
    conversationId: (await w.conversation(ana.phone)).id,
    session,
    connection: async () => (await w.team('GET', path)).body.connection,
    // What concerns the line, not the agent, whom nobody has started yet.
    advice: async () => {
      const { advice } = (await w.team('GET', `${path}/health`)).body.health
      return advice.filter(({ code }: { code: string }) => code !== 'agent_never_used')
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
  const { state, stateReason } = await w.connection()
  assert.deepEqual([state, stateReason], ['unavailable', reason])
  const { status, body } = await w.send(w.conversationId, 'x')
  assert.deepEqual([status, body.data.code], [409, 'CONNECTION_UNAVAILABLE'])
  const [first, ...others] = await w.advice()
  assert.equal(first?.code, reason)
  assert.ok(first.text.length > 20)
  // The risk is confirmed still: only the next pairing voids that.
  assert.deepEqual(others, [])
}

async function assertOpen(w: Shop): Promise<void> {
  await w.comesTo('open')
  assert.partialDeepStrictEqual(await w.session(), { reason: null, paired: true, nextAttemptAt: null })
  assert.deepEqual([(await w.connection()).state, (await w.connection()).stateReason], ['active', null])
  assert.equal((await w.send(w.conversationId, 'x')).body.status, 'sent')
  assert.deepEqual(await w.advice(), [])
}

test('515: another socket at once, and the connection goes on', async () => {
  const w = await shop()
  const before = await w.sockets()
  await w.drop(515)
  await until(async () => (await w.sockets()) === before + 1, 'the next socket')
  await assertOpen(w)
})

for (const code of [408, 428, 503]) {
  test(`${code}: unavailable for a while, then tried again by itself until it is open`, async () => {
    const w = await shop()
    const before = await w.sockets()
    await w.drop(code, 2)
    await w.comesTo('waiting')
    await assertUnavailable(w, 'reconnecting')
    assert.equal((await w.session()).paired, true)
    await until(async () => {
      await w.later(10_000)
      return (await w.sockets()) === before + 3
    }, 'the third socket')
    await assertOpen(w)
  })
}

test('500: tried a few times, then stopped as a bad session, until a member resumes it', async () => {
  const w = await shop()
  const before = await w.sockets()
  await w.drop(500, 3)
  await until(async () => {
    await w.later(10_000)
    return (await w.session()).state === 'stopped'
  }, 'the end of the tries')
  assert.partialDeepStrictEqual(await w.session(), { reason: 'bad_session', paired: true })
  assert.equal(await w.sockets(), before + 3)
  await assertUnavailable(w, 'bad_session')
  assert.equal((await w.team('POST', `${w.path}/resume`)).status, 200)
  await assertOpen(w)
})

const stops: [code: number, reason: string, staysPaired: boolean][] = [
  [401, 'logged_out', false],
  [402, 'banned_temporarily', true],
  [403, 'forbidden', true],
  [405, 'client_outdated', true],
  [406, 'banned', true],
  [409, 'bad_user_agent', true],
  [411, 'device_mismatch', true],
  [440, 'replaced', true],
]

for (const [code, reason, staysPaired] of stops) {
  const then = staysPaired ? 'until a member resumes it' : 'until the phone is paired anew'
  test(`${code}: stopped as ${reason}, ${then}`, async () => {
    const w = await shop()
    await w.drop(code)
    await w.comesTo('stopped')
    assert.partialDeepStrictEqual(await w.session(), { reason, paired: staysPaired, qr: null, nextAttemptAt: null })
    await assertUnavailable(w, reason)
    const before = await w.sockets()
    await w.later(600_000)
    const resumed = await w.team('POST', `${w.path}/resume`)
    assert.equal(resumed.status, 200)
    if (staysPaired) {
      await assertOpen(w)
      assert.equal(await w.sockets(), before + 1, 'none was opened before a member asked')
      return
    }
    assert.deepEqual([resumed.body.connection.state, resumed.body.connection.stateReason], ['unavailable', reason])
    assert.equal(await w.sockets(), before)
    await w.line.takeBack()
    const refused = await w.send(w.conversationId, 'x')
    assert.deepEqual([refused.status, refused.body.data.code], [409, 'ACKNOWLEDGEMENT_REQUIRED'])
    assert.deepEqual(
      (await w.advice()).map(({ code: told }) => told),
      ['acknowledgement_required'],
    )
    assert.equal((await w.member.call('POST', `${w.path}/acknowledge`)).status, 200)
    await assertOpen(w)
  })
}

test('408 while a code is shown: the pairing has ended, until somebody begins another', async () => {
  const w = await shop()
  await w.team('POST', `${w.path}/pair`, { method: 'qr' })
  await until(async () => (await w.session()).qr !== null, 'a QR code')
  await until(async () => {
    await w.later(30_000)
    return (await w.session()).state === 'stopped'
  }, 'the end of the series of codes')
  assert.partialDeepStrictEqual(await w.session(), { reason: 'pairing_ended', paired: false, qr: null })
  await assertUnavailable(w, 'pairing_ended')
  await w.line.takeBack()
  assert.equal((await w.session()).state, 'open')
})
