import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countDueBudgets } from '../../../src/inbox/budgets/count-ledger.ts'
import { budgetWorld, codesOf, sendEach } from './budget-world.ts'

test('reported prices replace reservations, whatever their order and number', async () => {
  const w = await budgetWorld()
  await w.addBudget({ limit: '4' })
  await sendEach(w, 4)
  assert.deepEqual(await w.uses(), ['0+4'])
  await w.report(0)
  await w.count()
  assert.deepEqual(await w.uses(), ['1+3'])
  // Repeated, late and out of order.
  await w.report(0, {}, 'sent')
  await w.report(1, { type: 'free_entry_point', isBillable: false })
  await w.report(0)
  await w.count()
  await w.count()
  assert.deepEqual(await w.uses(), ['1+2'])
  const { externalId = '' } = w.platform.accepted[2] ?? {}
  await w.tell(w.status(externalId, 'failed', { at: w.clock.now(), errorCode: '131026' }))
  await w.count()
  assert.deepEqual(await w.uses(), ['1+1'])
  await w.report(3, { type: 'unknown', isBillable: null })
  await w.count()
  assert.deepEqual(await w.uses(), ['2+0'], 'a price of which the platform does not say whether it charges counts')
})

test('a send is refused only after a fresh count', async () => {
  const w = await budgetWorld()
  await w.addBudget({ limit: '2' })
  assert.deepEqual(await sendEach(w, 3), ['202 sent', '202 sent', '429 BUDGET_REACHED'])
  await w.report(0, { type: 'free_customer_service', isBillable: false })
  w.clock.advance(60_000)
  assert.deepEqual(await sendEach(w, 2), ['202 sent', '429 BUDGET_REACHED'])
})

test('charges of other apps on the number and of sends before the budget count', async () => {
  const w = await budgetWorld()
  await sendEach(w, 2)
  await w.report(0)
  const other = { type: 'regular', category: 'service', isBillable: true, freeUntil: null } as const
  await w.tell(w.status('wamid.other-app', 'delivered', { at: w.clock.now(), pricing: other }))
  await w.addBudget({ limit: '10' })
  await w.addBudget({ scope: 'key', scopeId: w.keyId, limit: '10' })
  assert.deepEqual(await w.uses(), ['2+0', '1+0'])
  await w.report(1)
  w.clock.advance(60_000)
  assert.ok((await countDueBudgets(w.node.deps)) >= 1)
  assert.deepEqual(await w.uses(), ['3+0', '2+0'])
})

test('a day starts again in the account’s time zone', async () => {
  const w = await budgetWorld()
  await w.addBudget({ limit: '1', period: 'day' })
  assert.deepEqual(await sendEach(w, 2), ['202 sent', '429 BUDGET_REACHED'])
  w.clock.advance(12 * 3_600_000)
  const windowExpiresAt = new Date(w.clock.now().getTime() + 60_000)
  const { id } = await w.conversation({ windowExpiresAt })
  assert.deepEqual(codesOf([await w.post(id), await w.post(id)]), ['202 sent', '429 BUDGET_REACHED'])
  await w.count()
  assert.deepEqual(await w.uses(), ['0+1'])
})

test('a count that a new period overtakes is discarded, so that its first sends stay reserved', async () => {
  const w = await budgetWorld()
  await w.addBudget({ limit: '1', period: 'day' })
  w.clock.advance(12 * 3_600_000)
  const windowExpiresAt = new Date(w.clock.now().getTime() + 60_000)
  assert.equal((await w.post((await w.conversation({ windowExpiresAt })).id)).status, 202)
  // By a node whose clock is behind.
  w.clock.advance(-1)
  await w.count()
  w.clock.advance(1)
  const late = await w.conversation({ windowExpiresAt })
  assert.deepEqual([codesOf([await w.post(late.id)]), await w.uses()], [['429 BUDGET_REACHED'], ['0+1']])
})

const prices = ['USD,Brazil,service,1,0.5,2026-01-01', 'USD,Germany,service,1,2,2026-01-01']

test('a budget in money reserves the price of the country, and the highest one if it is unknown', async () => {
  const w = await budgetWorld()
  await w.importPrices(prices)
  await w.addBudget({ unit: 'money', limit: '3' })
  const hidden = { phone: null, userId: '1234', parentUserId: null, name: null }
  const toBrazil = await w.conversation()
  const toSomebody = await w.conversation({
    contact: { ...toBrazil.contact, ...hidden, address: { phone: null, userId: '1234' } },
  })
  assert.deepEqual(codesOf([await w.post(toBrazil.id), await w.post(toSomebody.id)]), ['202 sent', '202 sent'])
  assert.deepEqual(await w.uses(), ['0+2.5'])
  assert.deepEqual(codesOf([await w.post(toSomebody.id), await w.post(toBrazil.id)]), [
    '429 BUDGET_REACHED',
    '202 sent',
  ])
  await w.report(0)
  await w.count()
  assert.deepEqual(await w.uses(), ['0.5+2.5'])
})

test('a charge without a price counts the highest one of its category', async () => {
  const w = await budgetWorld()
  await w.importPrices(prices)
  await w.addBudget({ unit: 'money', limit: '100' })
  await sendEach(w, 1)
  const { externalId = '' } = w.platform.accepted[0] ?? {}
  const pricing = { type: 'regular', category: 'service', isBillable: true, freeUntil: null } as const
  await w.tell(w.status(externalId, 'delivered', { at: w.clock.now(), pricing }))
  await w.count()
  assert.deepEqual(await w.uses(), ['2+0'])
})
