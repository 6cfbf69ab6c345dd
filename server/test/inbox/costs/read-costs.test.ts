import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { newId } from '../../../src/base/id.ts'
import { defaultBillingSettings, setConnectionCurrency } from '../../../src/inbox/costs/billing-settings.ts'
import { parseRateCards } from '../../../src/inbox/costs/parse-rate-card.ts'
import { storeRateCards } from '../../../src/inbox/costs/rate-cards.ts'
import { type CostGrouping, readCosts } from '../../../src/inbox/costs/read-costs.ts'
import { recordVolumeTier } from '../../../src/inbox/costs/volume-tiers.ts'
import { type InboxWorld, inboxWorld } from '../../support/inbox/inbox-world.ts'

// The rules and examples are those of the platform's pricing page; the prices are invented.

interface Message {
  at?: string
  type?: string
  category?: string
  country?: string | null
  billable?: boolean | null
  delivered?: boolean | null
  connection?: string
}

const noon = '2026-10-10T12:00:00Z'

async function charge({ db, workspaceId, connectionId }: InboxWorld, messages: readonly Message[]): Promise<void> {
  for (const [n, message] of messages.entries()) {
    const { at = noon, type = 'regular', category = 'service', country = 'BR', connection = connectionId } = message
    const { billable = null, delivered = true } = message
    const externalIndex = createHash('sha256').update(`${connection} ${n}`).digest()
    await db.sql`
      insert into message_charges (
        workspace_id, connection_id, external_index, type, category, country, is_billable, delivered, step, charged_at
      )
      values (
        ${workspaceId}, ${connection}, ${externalIndex}, ${type}, ${category}, ${country}, ${billable}, ${delivered}, 2,
        ${new Date(at)}
      )`
  }
}

async function importCards({ db, workspaceId, clock }: InboxWorld, rows: readonly string[]): Promise<void> {
  const csv = ['valid_from,market,category,from_message,price,currency', ...rows.map((row) => `${row},USD`)].join('\n')
  const actor = { type: 'user', id: newId(clock.now()) } as const
  const cards = await parseRateCards(csv)
  await db.tx((tx) => storeRateCards(tx, workspaceId, cards, { actor, now: clock.now() }))
}

/** Stores tiers as the platform reports them for the connection. */
async function reach({ db, workspaceId, connectionId }: InboxWorld, tiers: readonly [at: string, from: number][]) {
  for (const [at, fromMessage] of tiers) {
    await recordVolumeTier(
      db,
      { workspaceId, id: connectionId },
      {
        ...{ type: 'volume_tier', region: 'INDIA', category: 'authentication', month: '2026-10', fromMessage },
        at: new Date(at),
      },
    )
  }
}

interface Options {
  timeZone?: string
  freeServiceMessages?: number
  by?: CostGrouping[]
  period?: [from: string, to: string]
}

async function read(w: InboxWorld, { by = [], period = ['2026-10-01', '2026-10-31'], ...settings }: Options = {}) {
  const scope = {
    workspaceId: w.workspaceId,
    connectionIds: null,
    settings: { ...defaultBillingSettings, ...settings },
    currency: 'USD',
    baseCurrency: 'USD',
  }
  return readCosts(w.db.sql, scope, { from: period[0], to: period[1] }, by, 1000)
}

const many = (count: number, message: Message): Message[] => Array.from({ length: count }, () => message)
const utility: Message = { category: 'utility' }
const india: Message = { category: 'authentication', country: 'IN' }
const indiaCard = [
  '2026-01-01,India,authentication,1,0.10',
  '2026-01-01,India,authentication,4,0.09',
  '2026-01-01,India,authentication,6,0.08',
  '2026-01-01,India,authentication-international,1,1.0',
  '2026-01-01,India,authentication-international,4,0.9',
]
const brazil = [
  '2026-01-01,Brazil,service,1,0.02',
  '2026-01-01,Brazil,utility,1,0.02',
  '2026-01-01,Brazil,marketing,1,0.05',
]

type Expected = Partial<Record<'messages' | 'charged' | 'free' | 'unknown' | 'unpriced', number>> & {
  amount: string | null
}
const rows: [rule: string, messages: Message[], card: string[], expected: Expected, options?: Options][] = [
  [
    'one marketing and one utility message of four are charged, the two within the window are reported free',
    [
      { category: 'marketing' },
      { type: 'free_customer_service' },
      { type: 'free_customer_service', category: 'utility' },
      utility,
    ],
    brazil,
    { messages: 4, charged: 2, free: 2, amount: '0.07' },
  ],
  [
    'each tier has its rate: three at the list rate, two at the first tier',
    many(5, india),
    indiaCard,
    { charged: 5, amount: '0.48' },
  ],
  ['a whole month through three tiers', many(7, india), indiaCard, { charged: 7, amount: '0.64' }],
  [
    'international authentication continues in the tier that authentication has reached',
    [...many(3, india), { ...india, category: 'authentication_international', at: '2026-10-15T12:00:00Z' }],
    indiaCard,
    { charged: 4, amount: '1.2' },
  ],
  [
    'free messages do not count towards tiers',
    [...many(9, { ...india, type: 'free_entry_point' }), ...many(3, { ...india, at: '2026-10-12T00:00:00Z' })],
    indiaCard,
    { charged: 3, free: 9, amount: '0.3' },
  ],
  [
    'tiers reset at midnight of the account',
    [...many(3, { ...india, at: '2026-10-31T23:59:00Z' }), ...many(2, { ...india, at: '2026-11-01T03:30:00Z' })],
    indiaCard,
    { charged: 5, amount: '0.48' },
    { timeZone: 'America/Los_Angeles' },
  ],
  [
    'tiers reset at midnight of the account, here before',
    [...many(3, { ...india, at: '2026-10-31T23:59:00Z' }), ...many(2, { ...india, at: '2026-11-01T03:30:00Z' })],
    indiaCard,
    { charged: 5, amount: '0.5' },
    { period: ['2026-10-01', '2026-11-30'] },
  ],
  [
    'the messages of a month before the period count towards its tiers',
    [...many(3, { ...india, at: '2026-10-02T12:00:00Z' }), ...many(2, { ...india, at: '2026-10-20T12:00:00Z' })],
    indiaCard,
    { messages: 2, charged: 2, amount: '0.18' },
    { period: ['2026-10-20', '2026-10-20'] },
  ],
  [
    'service messages that the platform reports as regular are charged in a month in which it reports free ones',
    [{ type: 'free_customer_service' }, {}, {}],
    brazil,
    { charged: 2, free: 1, amount: '0.04' },
  ],
  [
    'the first service messages of a month are free if the platform reports none as free',
    many(5, {}),
    brazil,
    { charged: 3, free: 2, amount: '0.06' },
    { freeServiceMessages: 2 },
  ],
  [
    'each month has its own free service messages',
    [...many(3, {}), ...many(3, { at: '2026-11-10T12:00:00Z' })],
    brazil,
    { charged: 2, free: 4, amount: '0.04' },
    { freeServiceMessages: 2, period: ['2026-10-01', '2026-11-30'] },
  ],
  [
    'utility messages use up no free service messages',
    many(2, utility),
    brazil,
    { charged: 2, free: 0, amount: '0.04' },
  ],
  [
    'everything in a free entry point is free, whatever its category',
    [
      { type: 'free_entry_point', category: 'referral_conversion' },
      { type: 'free_entry_point', category: 'marketing' },
    ],
    brazil,
    { charged: 0, free: 2, amount: null },
  ],
  ['an exempt business pays nothing', [{ type: 'exempt' }], brazil, { free: 1, amount: null }],
  [
    'a new card holds from midnight of the account',
    [
      { ...utility, at: '2026-10-01T02:59:00Z' },
      { ...utility, at: '2026-10-01T03:00:00Z' },
    ],
    [...brazil, '2026-10-01,Brazil,utility,1,0.5'],
    { charged: 2, amount: '0.52' },
    { timeZone: 'America/Sao_Paulo', period: ['2026-09-01', '2026-10-31'] },
  ],
  [
    'a country is priced by its region until a card has its own market',
    [
      { ...utility, country: 'BD', at: '2026-09-30T12:00:00Z' },
      { ...utility, country: 'BD', at: '2026-10-01T12:00:00Z' },
    ],
    [
      '2026-07-01,Rest of Asia Pacific,utility,1,0.011',
      '2026-10-01,Bangladesh,utility,1,0.004',
      '2026-10-01,Rest of Asia Pacific,utility,1,0.012',
    ],
    { charged: 2, amount: '0.015' },
    { period: ['2026-09-01', '2026-10-31'] },
  ],
  [
    'countries of a region share its tiers',
    [
      { ...utility, country: 'KE' },
      { ...utility, country: 'GH', at: '2026-10-11T12:00:00Z' },
    ],
    ['2026-01-01,Rest of Africa,utility,1,0.004', '2026-01-01,Rest of Africa,utility,2,0.003'],
    { charged: 2, amount: '0.007' },
  ],
  [
    'a country in no market is priced as Other',
    [{ ...utility, country: 'XK' }],
    ['2026-01-01,Other,utility,1,0.0077'],
    { charged: 1, amount: '0.0077' },
  ],
  [
    'a marketing message of the other endpoint has the marketing rate',
    [{ category: 'marketing_lite' }],
    brazil,
    { charged: 1, amount: '0.05' },
  ],
  [
    'a message without a country has no price, and is not taken for free',
    [{ ...utility, country: null }, utility],
    brazil,
    { charged: 2, unpriced: 1, amount: '0.02' },
  ],
  [
    'a category without a rate has no price',
    [{ category: 'authentication' }],
    brazil,
    { charged: 1, unpriced: 1, amount: null },
  ],
  [
    'a message before the first card has no price',
    [{ ...utility, at: '2025-12-31T12:00:00Z' }],
    brazil,
    { charged: 1, unpriced: 1, amount: null },
    { period: ['2025-12-01', '2025-12-31'] },
  ],
  [
    'an unknown type stays unknown',
    [{ type: 'unknown', billable: true }, { type: 'unknown' }],
    brazil,
    { charged: 0, free: 0, unknown: 2, amount: null },
  ],
  [
    'an unknown type is free if the platform says that it is not billable',
    [{ type: 'unknown', billable: false }],
    brazil,
    { free: 1, unknown: 0, amount: null },
  ],
  [
    'messages that were not delivered are not counted',
    [
      { ...utility, delivered: false },
      { ...utility, delivered: null },
    ],
    brazil,
    { messages: 1, charged: 1, amount: '0.02' },
  ],
  [
    'without a card, messages are counted and have no amount',
    [utility],
    [],
    { messages: 1, charged: 1, unpriced: 1, amount: null },
  ],
  [
    'amounts are exact',
    many(3, utility),
    ['2026-01-01,Brazil,utility,1,0.10000001'],
    { charged: 3, amount: '0.30000003' },
  ],
]

for (const [rule, messages, card, expected, options] of rows) {
  test(`costs: ${rule}`, async () => {
    const w = await inboxWorld()
    await charge(w, messages)
    if (card.length > 0) await importCards(w, card)
    const [sum] = await read(w, options)
    const actual = Object.fromEntries(Object.keys(expected).map((name) => [name, sum?.[name as keyof Expected]]))
    assert.deepEqual(actual, expected)
  })
}

test('costs: each number has its own free service messages, and a card prices what came before its import', async () => {
  const w = await inboxWorld()
  const other = await w.addConnection()
  await charge(w, many(3, {}))
  await charge(w, many(3, { connection: other }))
  const options = { freeServiceMessages: 2, by: ['connection'] as CostGrouping[] }
  const before = await read(w, options)
  assert.deepEqual(
    before.map(({ charged, free, amount }) => [charged, free, amount]),
    [
      [1, 2, null],
      [1, 2, null],
    ],
  )
  await importCards(w, brazil)
  await importCards(w, ['2026-01-01,Brazil,service,1,0.03'])
  const after = await read(w, options)
  assert.deepEqual(
    after.map(({ charged, free, amount }) => [charged, free, amount]),
    [
      [1, 2, '0.03'],
      [1, 2, '0.03'],
    ],
  )
  assert.deepEqual(new Set(after.map(({ keys }) => keys[0])), new Set([w.connectionId, other]))
})

test('from the time at which the platform reports a tier, messages of its market, category and month have its price', async () => {
  const w = await inboxWorld()
  await importCards(w, indiaCard)
  const days = ['02', '10', '20', '30'].map((day) => ({ ...india, at: `2026-10-${day}T12:00:00Z` }))
  await charge(w, [...days, { ...india, at: '2026-11-02T12:00:00Z' }])
  const period: [string, string] = ['2026-10-01', '2026-11-30']
  const amount = async () => (await read(w, { period }))[0]?.amount
  assert.equal(await amount(), '0.49', 'three at the list rate, one at the first tier, one of the next month')
  // Others of the portfolio have sent messages too. Repeated and late reports change nothing.
  const reports: [string, number][] = [
    ['2026-10-15T00:00:00Z', 6],
    ['2026-10-05T00:00:00Z', 4],
    ['2026-10-15T00:00:00Z', 6],
    ['2026-10-29T00:00:00Z', 6],
  ]
  await reach(w, reports)
  assert.equal(await amount(), '0.45', '0.10, 0.09, 0.08, 0.08, and 0.10 of the next month')
})

test('connections that are billed in another currency have sums of their own', async () => {
  const w = await inboxWorld()
  const other = await w.addConnection()
  await importCards(w, brazil)
  await charge(w, many(2, utility))
  await charge(w, many(3, { ...utility, connection: other }))
  assert.equal((await read(w))[0]?.messages, 5)
  await w.db.tx((tx) => setConnectionCurrency(tx, w.workspaceId, other, 'BRL'))
  assert.deepEqual([(await read(w))[0]?.messages, (await read(w))[0]?.amount], [2, '0.04'])
})
