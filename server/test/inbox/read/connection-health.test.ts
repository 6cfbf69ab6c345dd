import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findConnection } from '../../../src/channels/connection/queries.ts'
import { bytesOf, change, payload, signatureOf, status, text, value } from '../../support/channels/waba-payloads.ts'
import { addAgent, conversationPath, type InboxWorld, inboxWorld } from '../../support/inbox/inbox-world.ts'
import { signedInMember } from '../../support/member.ts'

const minute = 60_000

interface HealthWorld extends InboxWorld {
  // biome-ignore lint/suspicious/noExplicitAny: as in Answer
  health(): Promise<any>
  /** Posts these as a callback of the platform, signed by the connection's app. */
  callback(lists: object): Promise<void>
  send(conversationId: string): Promise<void>
}

async function healthWorld(): Promise<HealthWorld> {
  const w = await inboxWorld()
  const agent = await addAgent(w)
  const usedAt = w.clock.now()
  await w.db.sql`update api_keys set last_used_at = ${usedAt} where id = ${agent.id}`
  let sends = 0
  return {
    ...w,
    health: async () => {
      // Signs in again, because sessions expire while the clock is moved.
      const member = await signedInMember(w)
      const { status, body } = await member.call('GET', `/connections/${w.connectionId}/health`)
      assert.equal(status, 200)
      return body.health
    },
    callback: async (lists) => {
      const one = await findConnection(w.db.sql, await w.keyStore.keyring(w.workspaceId), w.workspaceId, w.connectionId)
      assert.ok(one)
      const bytes = bytesOf(payload(change('messages', value(lists as Record<string, unknown>, one.numberId))))
      const headers = { 'x-hub-signature-256': signatureOf('s', bytes), 'content-type': 'application/json' }
      const url = `/channels/waba/${w.connectionId}/webhook`
      assert.equal((await w.app.inject({ method: 'POST', url, headers, payload: bytes })).statusCode, 200)
    },
    send: async (id) => {
      w.clock.advance(1_000)
      const headers = { 'idempotency-key': `health-${++sends}` }
      const body = { kind: 'text', text: 'Hello' }
      await w.call('POST', `${conversationPath(id)}/messages`, { body, headers, key: agent.value })
    },
  }
}

const seconds = (date: Date) => String(Math.floor(date.getTime() / 1000))
const before = (w: HealthWorld, ms: number) => ({ timestamp: seconds(new Date(w.clock.now().getTime() - ms)) })

test('an unused connection is healthy', async () => {
  const w = await healthWorld()
  const { stateChangedAt, newConversationsGoTo, ...health } = await w.health()
  assert.equal(stateChangedAt, w.clock.now().toISOString())
  assert.deepEqual([newConversationsGoTo.name, newConversationsGoTo.lastUsedAt], ['Agent', stateChangedAt])
  assert.deepEqual(health, {
    state: 'active',
    stateReason: null,
    lastEventInAt: null,
    lastEventOutAt: null,
    lagMs: null,
    worstLagMs: null,
    failures: [],
    advice: [],
  })
})

test('the owner of new conversations is shown, with a warning if that key was never used', async () => {
  const w = await inboxWorld()
  const member = await signedInMember(w)
  const read = async () => (await member.call('GET', `/connections/${w.connectionId}/health`)).body.health
  assert.equal((await read()).newConversationsGoTo, null, 'people')

  await addAgent(w, { name: 'CRM sync', answersNewConversations: false })
  await addAgent(w, { name: 'Of another number', connectionIds: [await w.addConnection()] })
  const agent = await addAgent(w, { name: 'Support agent' })
  const unused = await read()
  assert.deepEqual(unused.newConversationsGoTo, { keyId: agent.id, name: 'Support agent', lastUsedAt: null })
  assert.deepEqual(
    unused.advice.map(({ code }: { code: string }) => code),
    ['agent_never_used'],
  )
  assert.match(unused.advice[0].text, /"Support agent", which has never been used/)
  assert.equal((await w.customerWrites('Hi')).owner, `agent:${agent.id}`, 'as was shown')

  const at = w.clock.now()
  await w.db.sql`update api_keys set last_used_at = ${at} where id = ${agent.id}`
  assert.deepEqual((await read()).advice, [])
  await w.db.sql`update workspaces set agents_stopped = true where id = ${w.workspaceId}`
  assert.equal((await read()).newConversationsGoTo, null)
})

test("lag is the platform's delay, and its worst value is kept for an hour", async () => {
  const w = await healthWorld()
  const told = async (ms: number) => {
    w.clock.advance(2 * minute)
    await w.callback({ messages: [text('Hi', before(w, ms)), text('again', before(w, 0))] })
    const { lagMs, worstLagMs, lastEventInAt } = await w.health()
    assert.equal(lastEventInAt, w.clock.now().toISOString())
    return [lagMs, worstLagMs]
  }
  assert.deepEqual(await told(3_000), [3_000, 3_000])
  assert.deepEqual(await told(90_000), [90_000, 90_000])
  assert.deepEqual(await told(2_000), [2_000, 90_000])
  w.clock.advance(61 * minute)
  assert.equal((await w.health()).worstLagMs, null)
  assert.deepEqual(await told(4_000), [4_000, 4_000])
})

test('failures of the last day are counted by code, with advice', async () => {
  const w = await healthWorld()
  const { id } = await w.customerWrites('Hi')
  const fail = async (errorCode: string) => {
    w.platform.answers.push({ outcome: 'refused', errorCode, effect: 'none' })
    await w.send(id)
  }
  await fail('131047')
  w.clock.advance(86_400_000)
  await w.customerWrites('Still there?')
  for (const code of ['131026', '131056', '131026']) await fail(code)
  await w.send(id)
  const { failures } = await w.health()
  assert.deepEqual(
    failures.map(({ code, count }: { code: string; count: number }) => [code, count]),
    [
      ['131026', 2],
      ['131056', 1],
    ],
  )
  assert.equal(failures[0].lastAt, new Date(w.clock.now().getTime() - 1_000).toISOString())
  assert.match(failures[0].advice, /cannot be delivered/)
})

test('a message with an unknown result counts as failed until the platform reports its arrival', async () => {
  const w = await healthWorld()
  const { id } = await w.customerWrites('Hi')
  w.platform.answers.push({ outcome: 'unknown', errorCode: 'timeout' })
  await w.send(id)
  const codes = async () => (await w.health()).failures.map(({ code }: { code: string }) => code)
  assert.deepEqual(await codes(), ['outcome_unknown'])
  const correlator = w.platform.sends.at(-1)?.order.correlator ?? null
  await w.deliver(w.status('wamid.late', 'delivered', { correlator }))
  assert.deepEqual(await codes(), [])
})

const adviceCodes = async (w: HealthWorld) => (await w.health()).advice.map(({ code }: { code: string }) => code)

test('sends without any report for half an hour advise to check the webhook', async () => {
  const w = await healthWorld()
  const { id } = await w.customerWrites('Hi')
  for (const _ of [1, 2]) await w.send(id)
  w.clock.advance(31 * minute)
  assert.deepEqual(await adviceCodes(w), [], 'two may be chance')
  await w.send(id)
  w.clock.advance(29 * minute)
  assert.deepEqual(await adviceCodes(w), [], 'the third is too young')
  w.clock.advance(minute)
  const [advice] = (await w.health()).advice
  assert.equal(advice.code, 'nothing_arrives')
  assert.ok(advice.text.includes(`/channels/waba/${w.connectionId}/webhook`))
  // One status shows that the webhook works.
  await w.callback({ statuses: [status('delivered', { id: 'wamid.any' })] })
  assert.deepEqual(await adviceCodes(w), [])
})
