import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createCircuitBreaker,
  isFinal,
  isTooOften,
  nextPause,
  type Pause,
  recentTimes,
  sameCall,
  sameText,
} from '../../src/agents/circuit-breaker.ts'
import { manualClock } from '../../src/base/clock.ts'
import { conflict } from '../../src/base/errors.ts'
import { type AgentsWorld, agentsWorld } from '../support/agents/agents-world.ts'
import { mcpClient, toolCaller } from '../support/agents/mcp-client.ts'
import { whenSent } from '../support/database.ts'
import { marina } from '../support/inbox/inbox-world.ts'
import { signedInMember } from '../support/member.ts'
import { testNoon } from '../support/world.ts'

const minuteMs = 60_000

test('attempts outside the window are dropped, and the list is bounded', () => {
  const moments = (count: number, everyMs: number) => {
    let kept: number[] = []
    for (let n = 0; n < count; n++) kept = recentTimes(kept, n * everyMs, sameCall)
    return kept
  }
  for (const [count, everyMs, expected] of [
    [9, 1, false],
    [10, 1, true],
    [10, 6_000, true],
    [10, 7_000, false],
    [1000, 7_000, false],
  ] as const) {
    assert.equal(isTooOften(moments(count, everyMs), sameCall), expected, `${count} times, every ${everyMs} ms`)
  }
  assert.equal(moments(1000, 1).length, sameCall.times)
})

test('a pause lasts a minute, doubles up to 15 minutes, and resets after an hour', () => {
  const lengths: number[] = []
  let last: Pause | null = null
  let nowMs = 0
  for (const restMinutes of [0, 1, 1, 1, 59, 1, 60]) {
    nowMs = (last?.untilMs ?? 0) + restMinutes * minuteMs
    last = nextPause(last, nowMs)
    assert.equal(last.untilMs, nowMs + last.lengthMinutes * minuteMs)
    lengths.push(last.lengthMinutes)
  }
  assert.deepEqual(lengths, [1, 2, 4, 8, 15, 15, 1])
})

test('temporary refusals do not count as repeats', () => {
  for (const [status, code, expected] of [
    [409, 'HELD_BY_PEOPLE', true],
    [404, '404', true],
    [400, '400', true],
    [422, 'WINDOW_CLOSED', true],
    [409, 'NOT_RETRYABLE', false],
    [429, 'RATE_LIMITED', false],
    [502, 'DELIVERY_FAILED', false],
    [503, '503', false],
  ] as const) {
    assert.equal(isFinal(status, code), expected, code)
  }
})

test('state per key and number of keys are bounded; the oldest is evicted', () => {
  const breaker = createCircuitBreaker({ clock: manualClock(testNoon), notify: () => {} })
  const error = conflict('No')
  const refuse = (keyId: string, about: string, times = 1) => {
    for (let n = 0; n < times; n++) breaker.recordRefusal({ workspaceId: 'w', keyId }, 'answer', about, error)
  }
  const isPaused = (keyId: string): boolean => {
    try {
      breaker.check({ workspaceId: 'w', keyId })
      return false
    } catch {
      return true
    }
  }
  refuse('one', 'this', 10)
  refuse('two', 'this', 9)
  for (let n = 0; n < 16; n++) refuse('two', `other ${n}`)
  refuse('two', 'this')
  assert.deepEqual([isPaused('one'), isPaused('two')], [true, false])
  for (let n = 0; n < 500; n++) refuse(`key ${n}`, 'this')
  assert.equal(isPaused('one'), false)
})

async function held(w: AgentsWorld): Promise<string> {
  const { id } = await w.customerWrites('Hello')
  await w.takeOver(id)
  return id
}

test('a key that keeps answering conversations of people is paused, and people are notified', async () => {
  const w = await agentsWorld()
  const conversation_id = await held(w)
  const isPauseStored = whenSent(/insert into audit_log/)
  for (let n = 0; n < 10; n++) {
    const { body } = await w.callTool('answer', { conversation_id, text: `Are you there? ${n}` })
    assert.equal(body.code, 'HELD_BY_PEOPLE')
  }
  // The audit entry follows the update in one transaction, which holds the key's row until it ends.
  await isPauseStored
  await w.db.sql`select from api_keys where workspace_id = ${w.workspaceId} and id = ${w.agent.id} for update`
  const paused = await w.callTool('wait_for_work', { wait: 0 })
  assert.deepEqual([paused.status, paused.body.code, paused.headers['retry-after']], [429, 'PAUSED', '60'])
  assert.match(paused.body.next.join(' '), /You called answer 10 times .* HELD_BY_PEOPLE.*Retry-After/)
  assert.equal((await w.callTool('who_am_i')).status, 200, 'a paused key can call who_am_i')
  const { value } = await w.addKey({ scopes: ['inbox.read'] })
  assert.equal((await w.callTool('list_conversations', {}, value)).status, 200, 'other keys go on')

  const admin = await signedInMember(w, 'admin')
  const seen = async (by = admin) => (await by.call('GET', '/stats')).body.attention
  const [{ code, id, name, reason }] = await seen()
  assert.deepEqual([code, id, name, reason], ['key_paused', w.agent.id, 'Support agent', 'same_call'])
  const [{ action, target }] = (await admin.call('GET', '/audit')).body.entries
  assert.deepEqual([action, target], ['api-key.paused', `api-key:${w.agent.id}`])

  w.clock.advance(minuteMs)
  assert.equal((await w.callTool('wait_for_work', { wait: 0 })).status, 200)
  for (let n = 0; n < 10; n++) await w.callTool('answer', { conversation_id, text: 'Hello?' })
  const again = await w.callTool('answer', { conversation_id, text: 'Hello?' })
  assert.deepEqual([again.body.code, again.headers['retry-after']], ['PAUSED', '120'])
  w.clock.advance(24 * 60 * minuteMs)
  const later = await signedInMember(w, 'admin')
  assert.ok(!(await seen(later)).some((one: { code: string }) => one.code === 'key_paused'), 'after a day it is gone')
})

test('a paused key is also paused for MCP tools', async () => {
  const w = await agentsWorld()
  const call = toolCaller(await mcpClient(w, w.agent.value))
  const conversation_id = await held(w)
  for (let n = 0; n < 10; n++) await call('answer', { conversation_id, text: 'Hello?' })
  const { read } = await call('answer', { conversation_id, text: 'Hello?' })
  assert.deepEqual([read.code, read.retry_after_seconds], ['PAUSED', 60])
  assert.equal((await w.callTool('resolve', { conversation_id })).body.code, 'PAUSED')
})

test('the same unsolicited text to 20 customers pauses a key; as an answer it does not', async () => {
  const w = await agentsWorld()
  const ids: string[] = []
  for (let n = 0; n < sameText.times + 1; n++) {
    const customer = { ...marina, phone: `55819912345${10 + n}` }
    ids.push((await w.customerWrites('Hello', { customer })).id)
  }
  const tell = async (text: string) => {
    const codes = new Map<string, number>()
    for (const conversation_id of ids) {
      const { body } = await w.callTool('answer', { conversation_id, text })
      const code = body.code ?? body.status
      codes.set(code, (codes.get(code) ?? 0) + 1)
    }
    return Object.fromEntries(codes)
  }
  assert.deepEqual(await tell('Hello! How can I help?'), { sent: 21 })
  assert.deepEqual(await tell('Everything is half the price today.'), { sent: 20, PAUSED: 1 })
  const { body } = await w.callTool('answer', { conversation_id: ids[0], text: 'Something else.' })
  assert.match(body.next[0], /same text to 20 customers/)
})
