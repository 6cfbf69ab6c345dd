import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordOf } from '../../src/scenarios/run/sandbox-state.ts'

const start = new Date('2026-03-10T12:00:00.000Z')
const at = (ms: number) => new Date(start.getTime() + ms)
const phone = '5511955123456'

type Recording = Parameters<typeof recordOf>[0]
type Item = Recording['state']['items'][number]

const item = (ms: number, rest: Omit<Item, 'id' | 'at'>): Item => ({
  id: String(ms),
  at: at(ms).toISOString(),
  ...rest,
})
const message = (ms: number, direction: string, type: string, text: string, status = 'sent') =>
  item(ms, { type: 'message', message: { direction, kind: 'text', text, status, author: { type } } })
const owner = (ms: number, to: string, type: string) =>
  item(ms, { type: 'activity', activity: { kind: 'owner', from: null, to, toName: null, actor: { type } } })
const handover = (ms: number) =>
  item(ms, {
    type: 'handover',
    handover: { to: 'people', urgency: 'high', summary: 'Wants it', reason: null, actor: { type: 'agent' } },
  })
const call = (input: Record<string, unknown>, answer = '{}', code: string | null = null) => ({
  ...{ tool: 'answer', input, answer, code },
  at: at(5),
})

const record = (items: Item[], changes: Partial<Recording> = {}) =>
  recordOf({
    state: {
      conversation: {
        ...{ id: 'c1', owner: 'human', status: 'open', labelIds: ['l1'], optedOutAt: null, contact: { phone } },
        ...{ updatedAt: '', lastMessage: null },
      },
      ...{ items, notes: [] },
    },
    ...{ calls: [], turns: [], startedAt: start, phone, lead: null, charges: {}, isAlone: false },
    labels: new Map([['vip', 'l1']]),
    ...changes,
  })

test('a handover of the agent, and what it wrote before, are distinguished from what people did', () => {
  const found = record([
    message(0, 'inbound', 'customer', 'Hello'),
    message(10, 'outbound', 'agent', 'Bye'),
    owner(20, 'human', 'agent'),
    handover(20),
    message(30, 'outbound', 'user', 'Ana here'),
    message(40, 'outbound', 'agent', 'Lost', 'failed'),
  ])
  assert.partialDeepStrictEqual(found, {
    handedOver: true,
    intrusions: 0,
    conversation: { owner: 'people', labels: ['vip'] },
  })
  assert.deepEqual(found.handovers, [{ urgency: 'high', reason: null, summary: 'Wants it' }])
  assert.deepEqual(
    found.entries.map(({ from, kind, text }) => `${from} ${kind} ${text}`),
    [
      'customer message Hello',
      'agent message Bye',
      'agent handover to people (high) — Wants it',
      'agent change owner: people',
      'team message Ana here',
      'agent message Lost [not delivered]',
    ],
  )
})

test('a takeover is no handover, and messages of the agent after it are intrusions', () => {
  const found = record([
    owner(0, 'human', 'user'),
    message(10, 'outbound', 'agent', 'I am still here'),
    owner(20, 'agent:k1', 'user'),
    message(30, 'outbound', 'agent', 'Thanks'),
  ])
  assert.deepEqual([found.handedOver, found.intrusions], [false, 1])
})

test('calls belong to a customer if they name the conversation, the number or the lead; alone, all do', () => {
  const calls = [
    call({ conversation_id: 'c1' }, '{"status":"drafted"}'),
    call({ match: { by: 'phone', value: '+55 (11) 95512-3456' } }),
    call({ identifier: 'lead-1' }),
    call({ conversation_id: 'c2' }),
    call({ search: 'Ana' }),
  ]
  const found = record([], { calls, lead: { id: 'lead-1' } })
  assert.deepEqual([found.calls.length, found.drafts], [3, 1])
  assert.equal(record([], { calls, isAlone: true }).calls.length, 5)
})

test('a complete number in any answer counts as received, a masked one does not', () => {
  const received = (answer: string) => record([], { calls: [call({}, answer)] }).phoneReceived
  assert.deepEqual(
    ['{"customer_phone":"5511955123456"}', 'call +55 11 95512-3456', '{"phone":"5511*****3456"}', '{}'].map(received),
    [true, true, false, false],
  )
})
