import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  alertOf,
  appliesTo,
  type Budget,
  exceeds,
  formatAmount,
  inCurrentPeriod,
  leftOf,
  oneMessage,
  parseAmount,
  periodAt,
} from '../../../src/inbox/budgets/budget.ts'
import { costOfSend, demandOf, findPrice, type PriceList, tierKey } from '../../../src/inbox/budgets/send-cost.ts'

const at = (text: string) => new Date(text)
const messages = (n: number) => BigInt(n) * oneMessage

const budget: Budget = {
  ...{ id: 'b', scope: 'workspace', scopeId: 'w', unit: 'messages', currency: null, period: 'month' },
  ...{ limit: messages(10), used: 0n, reserved: 0n, warnedAt: null, reachedAt: null },
  ...{ from: at('2026-03-01T00:00:00Z'), until: at('2026-04-01T00:00:00Z') },
}

test('amounts are exact to the eighth decimal', () => {
  const table: [text: string, amount: bigint, shown: string][] = [
    ['0', 0n, '0'],
    ['0.0068', 680_000n, '0.0068'],
    ['12.50', 1_250_000_000n, '12.5'],
    ['999999999999.99999999', 99_999_999_999_999_999_999n, '999999999999.99999999'],
    ['0.00000001', 1n, '0.00000001'],
  ]
  for (const [text, amount, shown] of table) {
    assert.equal(parseAmount(text), amount, text)
    assert.equal(formatAmount(amount), shown, text)
  }
  assert.equal(formatAmount(-680_000n), '-0.0068')
  assert.equal(formatAmount(parseAmount('0.1') + parseAmount('0.2')), '0.3')
})

test('periods are calendar days and months of the account’s time zone, also when clocks change', () => {
  const table: [period: 'day' | 'month', zone: string, now: string, from: string, until: string][] = [
    ['day', 'UTC', '2026-03-10T12:00:00Z', '2026-03-10T00:00:00Z', '2026-03-11T00:00:00Z'],
    ['month', 'UTC', '2026-03-10T12:00:00Z', '2026-03-01T00:00:00Z', '2026-04-01T00:00:00Z'],
    ['month', 'UTC', '2026-12-31T23:59:59.999Z', '2026-12-01T00:00:00Z', '2027-01-01T00:00:00Z'],
    ['month', 'UTC', '2027-01-01T00:00:00Z', '2027-01-01T00:00:00Z', '2027-02-01T00:00:00Z'],
    ['month', 'America/Sao_Paulo', '2026-04-01T02:59:59Z', '2026-03-01T03:00:00Z', '2026-04-01T03:00:00Z'],
    ['month', 'America/Sao_Paulo', '2026-04-01T03:00:00Z', '2026-04-01T03:00:00Z', '2026-05-01T03:00:00Z'],
    ['day', 'Asia/Kolkata', '2026-03-10T18:30:00Z', '2026-03-10T18:30:00Z', '2026-03-11T18:30:00Z'],
    // 23 and 25 hours.
    ['day', 'Europe/Berlin', '2026-03-29T12:00:00Z', '2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z'],
    ['day', 'Europe/Berlin', '2026-10-25T12:00:00Z', '2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z'],
    ['month', 'Europe/Berlin', '2026-03-15T12:00:00Z', '2026-02-28T23:00:00Z', '2026-03-31T22:00:00Z'],
    // The day begins at 1:00.
    ['day', 'Africa/Cairo', '2026-04-24T10:00:00Z', '2026-04-23T22:00:00Z', '2026-04-24T21:00:00Z'],
  ]
  for (const [period, zone, now, from, until] of table) {
    assert.deepEqual(periodAt(period, at(now), zone), { from: at(from), until: at(until) }, `${period} ${zone} ${now}`)
  }
})

test('a budget starts again with its period, and a clock that is behind does not bring the last one back', () => {
  const used = { ...budget, used: messages(7), reserved: messages(2) }
  assert.equal(inCurrentPeriod(used, at('2026-03-31T23:59:59Z'), 'UTC'), used)
  assert.deepEqual(inCurrentPeriod(used, at('2026-04-01T00:00:00Z'), 'UTC'), {
    ...budget,
    from: at('2026-04-01T00:00:00Z'),
    until: at('2026-05-01T00:00:00Z'),
  })
  assert.equal(inCurrentPeriod(used, at('2026-02-28T23:59:59Z'), 'UTC'), used)
})

test('a send costs its parts that the platform may charge for', () => {
  const service = { parts: 1, category: 'service', isCharging: true, isInFreeWindow: false }
  const table: [what: string, send: typeof service, freeLeft: number, free: number, charged: number][] = [
    ['a reply without free ones', service, 0, 0, 1],
    ['a free reply', service, 1, 1, 0],
    ['a long text', { ...service, parts: 4 }, 0, 0, 4],
    ['a long text that is partly free', { ...service, parts: 4 }, 3, 3, 1],
    ['more were sent than are free', service, -2, 0, 1],
    ['a template is never among the free replies', { ...service, category: 'utility' }, 9, 0, 1],
    ['a customer from an ad', { ...service, parts: 3, isInFreeWindow: true }, 0, 0, 0],
    ['a template to a customer from an ad', { ...service, category: 'marketing', isInFreeWindow: true }, 0, 0, 0],
    ['a linked phone', { ...service, isCharging: false }, 0, 0, 0],
  ]
  for (const [what, send, freeLeft, free, charged] of table) {
    const costs = costOfSend(send, freeLeft, parseAmount('0.5'))
    assert.equal(costs.filter(({ isFree }) => isFree).length, free, what)
    const demand = { messages: messages(charged), money: BigInt(charged) * parseAmount('0.5') }
    assert.deepEqual(demandOf(costs), demand, what)
  }
})

const rate = (market: string, category: string, price: string, fromMessage = 1) => {
  return { market, category, fromMessage, price: parseAmount(price) }
}
const list: PriceList = {
  rates: [
    rate('brazil', 'marketing', '0.06'),
    rate('brazil', 'utility', '0.008'),
    rate('brazil', 'utility', '0.006', 1001),
    rate('brazil', 'utility', '0.007', 5001),
    rate('india', 'authentication', '0.001'),
    rate('india', 'authentication_international', '0.03'),
    rate('rest of latin america', 'utility', '0.011'),
    rate('other', 'utility', '0.02'),
  ],
  highest: new Map([
    ['marketing', parseAmount('0.13')],
    ['utility', parseAmount('0.05')],
  ]),
  charged: new Map(),
}

test('a price is that of country, category and tier; an unknown one is the highest that is known', () => {
  const table: [what: string, country: string | null, category: string, charged: number, price: string][] = [
    ['own market', 'BR', 'marketing', 0, '0.06'],
    ['market of the region', 'BO', 'utility', 0, '0.011'],
    ['any other country', 'JE', 'utility', 0, '0.02'],
    ['first tier, last message', 'BR', 'utility', 999, '0.008'],
    ['second tier, with a higher one after it', 'BR', 'utility', 1000, '0.007'],
    ['last tier', 'BR', 'utility', 9000, '0.007'],
    ['the platform may bill it as international', 'IN', 'authentication', 0, '0.03'],
    ['no country', null, 'utility', 0, '0.05'],
    ['no price of the country', 'AR', 'marketing', 0, '0.13'],
    ['no price of the category', 'BR', 'service', 0, '0.13'],
    ['an unknown category', 'BR', '', 0, '0.13'],
  ]
  for (const [what, country, category, charged, price] of table) {
    const tiers = new Map([[tierKey('brazil', 'utility'), charged]])
    assert.equal(findPrice({ ...list, charged: tiers }, country, category), parseAmount(price), what)
  }
  assert.equal(findPrice({ rates: [], highest: new Map(), charged: new Map() }, 'BR', 'utility'), null)
})

test('a budget is exceeded by what it does not hold, and never by what is free', () => {
  const demand = (n: number) => ({ messages: messages(n), money: 0n })
  const table: [used: number, reserved: number, needed: number, isExceeded: boolean][] = [
    [0, 0, 10, false],
    [0, 0, 11, true],
    [5, 4, 1, false],
    [5, 5, 1, true],
    [12, 0, 0, false],
  ]
  for (const [used, reserved, needed, isExceeded] of table) {
    const one = { ...budget, used: messages(used), reserved: messages(reserved) }
    assert.equal(exceeds(one, demand(needed)), isExceeded, `${used} ${reserved} ${needed}`)
  }
  assert.equal(leftOf({ ...budget, used: messages(12) }), 0n)
  assert.equal(leftOf({ ...budget, used: messages(7), reserved: messages(1) }), messages(2))
})

test('a budget applies to the sends of its workspace, connection or key', () => {
  const sender = { connectionId: 'c1', keyId: 'k1' }
  const person = { connectionId: 'c1', keyId: null }
  assert.ok(appliesTo({ scope: 'workspace', scopeId: 'w' }, person))
  assert.ok(appliesTo({ scope: 'connection', scopeId: 'c1' }, person))
  assert.ok(!appliesTo({ scope: 'connection', scopeId: 'c2' }, sender))
  assert.ok(appliesTo({ scope: 'key', scopeId: 'k1' }, sender))
  assert.ok(!appliesTo({ scope: 'key', scopeId: 'k1' }, person))
})

test('the team is notified at 80 % and at 100 %, once per period each', () => {
  const [before, within] = [at('2026-02-27T00:00:00Z'), at('2026-03-05T00:00:00Z')]
  const table: [used: number, warnedAt: Date | null, reachedAt: Date | null, alert: ReturnType<typeof alertOf>][] = [
    [7, null, null, null],
    [8, null, null, 'warned'],
    [8, before, before, 'warned'],
    [9, within, null, null],
    [10, within, null, 'reached'],
    [10, null, null, 'reached'],
    [11, within, within, null],
    [9, null, within, null],
  ]
  for (const [used, warnedAt, reachedAt, alert] of table) {
    const one = { ...budget, used: messages(used - 1), reserved: messages(1), warnedAt, reachedAt }
    assert.equal(alertOf(one), alert, `${used} ${warnedAt?.toISOString()} ${reachedAt?.toISOString()}`)
  }
})
