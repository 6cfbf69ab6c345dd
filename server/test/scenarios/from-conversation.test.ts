import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type ConversationSource,
  createReplacer,
  makeScenario,
} from '../../src/scenarios/scenario/from-conversation.ts'
import { parseScenario } from '../../src/scenarios/scenario/parse-scenario.ts'

const replaced: [text: string, expected: string][] = [
  ['I am JOÃO silva', 'I am Vera Sampaio'],
  ['joao, João, Joaquim', 'Vera, Vera, Joaquim'],
  ['Write to joao.silva@acme.com.br or JOAO.SILVA@acme.com.br', 'Write to person1@example.com or person1@example.com'],
  ['https://acme.com/x?id=99 and https://acme.com/y', 'https://example.com/1 and https://example.com/2'],
  ['Order 4821, again 4821, then 4822', 'Order 1001, again 1001, then 1002'],
  ['+55 (81) 99123-4567', '+10 (00) 00000-0001'],
  ['CPF 123.456.789-09', 'CPF 100.000.000-01'],
  ['Rua da Aurora, 325', 'Rua das Flores, 1'],
  ['12 Baker Street, please', 'Rua das Flores, 1, please'],
  ['I bought 3 pairs in 2 days', 'I bought 3 pairs in 2 days'],
]

for (const [text, expected] of replaced) {
  test(`“${text}” becomes “${expected}”`, () => {
    assert.equal(createReplacer(['João Silva', null])(text), expected)
  })
}

test('long hostile texts are replaced in linear time', () => {
  const replace = createReplacer(['João'])
  const startedMs = performance.now()
  for (const one of ['rua ', '1 ', '1 a ', 'a.', '@', 'a@a.', 'av. ', '- (', 'http://', 'a '])
    replace(one.repeat(20_000))
  assert.ok(performance.now() - startedMs < 2000)
})

const minute = 60_000
const at = (n: number) => new Date(Date.UTC(2026, 2, 1) + n).toISOString()
const message = (n: number, direction: string, text: string, kind = 'text') => ({
  ...{ type: 'message' as const, id: String(n), at: at(n) },
  message: { direction, kind, text, status: 'sent', author: { type: direction === 'inbound' ? 'customer' : 'agent' } },
})
const owner = (n: number, to: string, type: string) => ({
  ...{ type: 'activity' as const, id: String(n), at: at(n) },
  activity: { kind: 'owner', from: null, to, toName: null, actor: { type } },
})
const source = (items: ConversationSource['items']): ConversationSource => ({
  conversation: {
    ...{ id: 'c', owner: 'human', status: 'open', labelIds: [], optedOutAt: null, contact: { phone: null } },
    ...{ updatedAt: at(0), lastMessage: null },
  },
  ...{ items, notes: [], names: ['João Silva'], lead: { firstName: 'João', lastName: 'Silva', status: 'new' } },
})

test('a conversation becomes a script in its order, without its personal data', () => {
  const scenario = makeScenario(
    source([
      message(0, 'inbound', 'Hi, I am João'),
      message(2000, 'inbound', 'Where is order 4821?'),
      message(10_000, 'outbound', 'Let me see'),
      message(20 * minute, 'inbound', 'See the picture', 'image'),
      message(21 * minute, 'inbound', 'My number is +55 81 99123-4567'),
      owner(22 * minute, 'human', 'agent'),
      owner(23 * minute, 'human', 'user'),
      message(24 * minute, 'inbound', 'Thanks'),
    ]),
    'made',
  )
  assert.deepEqual(scenario.script, [
    { customer: ['Hi, I am Vera', 'Where is order 1001?'], secondsBetween: 2 },
    { pause: 5 },
    { send: 'image', caption: 'See the picture' },
    'My number is +10 00 00000-0002',
    { team: 'takes_over' },
    'Thanks',
  ])
  assert.deepEqual(scenario.expect, { handedOver: true })
  assert.deepEqual(scenario.start?.lead, { firstName: 'Vera', lastName: 'Sampaio', status: 'new' })
  assert.equal(parseScenario(JSON.stringify(scenario)).name, 'made')
})
