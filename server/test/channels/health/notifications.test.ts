import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inboxReceive } from '../../../src/app/inbox.ts'
import type { ChannelEvent } from '../../../src/channels/channel-event.ts'
import { findConnection } from '../../../src/channels/connection/queries.ts'
import { inboxWorld, marina } from '../../support/inbox/inbox-world.ts'
import { signedInMember } from '../../support/member.ts'

/** A world with a member who receives notifications. */
async function toldWorld() {
  const w = await inboxWorld()
  const member = await signedInMember(w, 'admin')
  const receive = inboxReceive(w)
  const keyring = await w.keyStore.keyring(w.workspaceId)
  return {
    ...w,
    member,
    told: async (...events: ChannelEvent[]) => {
      const connection = await findConnection(w.db.sql, keyring, w.workspaceId, w.connectionId)
      assert.ok(connection)
      await receive(connection, events)
    },
    notices: async () =>
      (await member.call('GET', '/notices')).body.notices.map(
        ({ kind, reason }: { kind: string; reason: string | null }) => `${kind} ${reason}`,
      ),
    connection: async () => (await member.call('GET', `/connections/${w.connectionId}`)).body.connection,
    advice: async () => {
      const { body } = await member.call('GET', `/connections/${w.connectionId}/health`)
      return body.health.advice.map(({ code }: { code: string }) => code)
    },
  }
}

test('a payment problem after acceptance is notified once, with its reason, and the connection stays active', async () => {
  const w = await toldWorld()
  const failed = (id: string) => w.status(id, 'failed', { errorCode: '131042' })
  await w.told(failed('wamid.1'), failed('wamid.2'))
  await w.told(failed('wamid.3'))
  const { state, holds } = await w.connection()
  assert.deepEqual(
    [state, holds.length, holds[0].stops, holds[0].reason],
    ['active', 1, 'billable', 'platform_error_131042'],
  )
  assert.deepEqual(await w.notices(), ['connection platform_error_131042'])
  assert.deepEqual(await w.advice(), ['platform_error_131042'])
})

test('account restrictions are shown until they end, and notified', async () => {
  const w = await toldWorld()
  const until = new Date(w.clock.now().getTime() + 60_000)
  const restriction = { stops: 'initiated', reason: 'account_restricted_initiated', until } as const
  await w.told({ type: 'account_restricted', all: [restriction] })
  await w.told({ type: 'account_restricted', all: [restriction] })
  assert.deepEqual(await w.notices(), ['connection account_restricted_initiated'])
  assert.equal((await w.connection()).holds[0].until, until.toISOString())
  w.clock.advance(60_000)
  assert.deepEqual((await w.connection()).holds, [])
})

test('an opt-out reported by the platform for a marketing message is stored and shown', async () => {
  const w = await toldWorld()
  const { id } = await w.customerWrites('Hello')
  const shown = async () => (await w.member.call('GET', `/inbox/conversations/${id}`)).body.conversation.optedOutAt
  assert.equal(await shown(), null)
  await w.told(w.status('wamid.1', 'failed', { errorCode: '131050', customer: { ...marina, name: null } }))
  assert.equal(await shown(), w.clock.now().toISOString())
  w.clock.advance(1000)
  await w.told({
    type: 'marketing_preference',
    customer: marina,
    isStopped: false,
    source: 'setting',
    at: w.clock.now(),
  })
  assert.equal(await shown(), null)
})

test("an opt-out reported in the platform's immediate answer is stored too", async () => {
  const w = await toldWorld()
  const { id } = await w.customerWrites('Hello')
  const path = `/inbox/conversations/${id}`
  w.platform.answers.push({ outcome: 'refused', errorCode: '131050', effect: 'none' })
  const key = { 'idempotency-key': 'a-key' }
  const sent = await w.member.call('POST', `${path}/messages`, { kind: 'text', text: 'Offer' }, key)
  assert.equal(sent.body.status, 'failed', JSON.stringify(sent.body))
  assert.notEqual((await w.member.call('GET', path)).body.conversation.optedOutAt, null)
})
