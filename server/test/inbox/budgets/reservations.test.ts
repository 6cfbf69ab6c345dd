import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runStep } from '../../../src/base/run-step.ts'
import { settleStrandedSends } from '../../../src/inbox/send/settle-parts.ts'
import { afterStep } from '../../support/after-step.ts'
import { text } from '../../support/inbox/send-world.ts'
import { type BudgetWorld, budgetWorld, codesOf, sendEach } from './budget-world.ts'

const many = <T>(count: number, make: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => make(n)))

async function sendInParallel(w: BudgetWorld, count: number) {
  const node = await w.addNode()
  const conversations = await many(count, () => w.conversation())
  return many(count, async (n) => {
    const { id = '' } = conversations[n] ?? {}
    return w.post(id, n % 2 === 0 ? {} : { node })
  })
}

const sentOf = (codes: readonly string[]) => codes.filter((code) => code === '202 sent').length

test('of 50 parallel sends on two nodes, a budget of 10 messages lets exactly 10 pass', async () => {
  const w = await budgetWorld()
  await w.addBudget({ limit: '10' })
  const codes = codesOf(await sendInParallel(w, 50))
  assert.deepEqual([sentOf(codes), w.platform.calls.length], [10, 10], codes.join())
  assert.equal(codes.filter((code) => code === '429 BUDGET_REACHED').length, 40, codes.join())
  assert.deepEqual(await w.uses(), ['0+10'])
})

test('free messages of the month are not counted, and parallel sends take each of them once', async () => {
  const w = await budgetWorld(5)
  await w.addBudget({ limit: '10' })
  const codes = codesOf(await sendInParallel(w, 50))
  assert.deepEqual([sentOf(codes), await w.uses()], [15, ['0+10']], codes.join())
})

test('parallel sends that several budgets limit stop at the smallest', async () => {
  const w = await budgetWorld()
  await w.addBudget({ limit: '30' })
  await w.addBudget({ scope: 'connection', scopeId: w.connectionId, limit: '7', period: 'day' })
  await w.addBudget({ scope: 'key', scopeId: w.keyId, limit: '12' })
  const codes = codesOf(await sendInParallel(w, 20))
  assert.deepEqual([sentOf(codes), await w.uses()], [7, ['0+7', '0+7', '0+7']], codes.join())
})

test('a workspace without budgets stores and locks nothing for them', async () => {
  const w = await budgetWorld()
  const statements: string[] = []
  const node = await w.addNode({ onStatement: ({ text: sql }) => void statements.push(sql) })
  assert.equal((await w.post((await w.conversation()).id, { node })).status, 202)
  const own = statements.filter((sql) => sql.includes('budget'))
  // Where the conversation is locked, it asks whether there are any.
  assert.deepEqual([own.length, /for update of c/.test(own[0] ?? '')], [1, true], own.join('\n'))
})

test('the refusal names the budget, what is used, and when it starts again', async () => {
  const w = await budgetWorld()
  const id = await w.addBudget({ scope: 'key', scopeId: w.keyId, limit: '1' })
  await sendEach(w, 1)
  const refused = await w.post((await w.conversation()).id)
  assert.equal(refused.status, 429)
  assert.deepEqual(refused.body.data, {
    code: 'BUDGET_REACHED',
    budget: {
      ...{ id, scope: 'key', scope_id: w.keyId, unit: 'messages', currency: null, period: 'month' },
      ...{ limit: '1', used: '1', needed: '1', resets_at: '2026-04-01T00:00:00.000Z' },
    },
  })
  assert.match(
    refused.body.statusMessage,
    /this key for this month is used up: 1 .* of 1 .* 2026-04-01.*Nothing was sent/,
  )
})

test('a text in several parts reserves each of them, and is refused as a whole', async () => {
  const w = await budgetWorld()
  await w.addBudget({ limit: '5' })
  const long = text('word '.repeat(2_000))
  assert.deepEqual(codesOf([await w.post((await w.conversation()).id, { body: long })]), ['202 sent'])
  assert.deepEqual([w.platform.accepted.length, await w.uses()], [3, ['0+3']])
  assert.deepEqual(codesOf([await w.post((await w.conversation()).id, { body: long })]), ['429 BUDGET_REACHED'])
  assert.deepEqual(await sendEach(w, 3), ['202 sent', '202 sent', '429 BUDGET_REACHED'])
})

test('what fails gives its reservation back at once, of several parts only those that failed', async () => {
  const w = await budgetWorld()
  await w.addBudget({ limit: '3' })
  w.platform.behave = () => ({ refuse: '131026' })
  assert.deepEqual(await sendEach(w, 2), ['202 failed', '202 failed'])
  assert.deepEqual(await w.uses(), ['0+0'])
  w.platform.behave = ({ correlator }) => (correlator.endsWith(':2') ? { refuse: '131026' } : undefined)
  const long = text('word '.repeat(2_000))
  assert.deepEqual(codesOf([await w.post((await w.conversation()).id, { body: long })]), ['202 failed'])
  assert.deepEqual(await w.uses(), ['0+1'])
  w.platform.behave = () => 'unreachable'
  assert.deepEqual(await sendEach(w, 1), ['502 DELIVERY_FAILED'])
  assert.deepEqual(await w.uses(), ['0+1'])
})

test('a refused or repeated send reserves nothing', async () => {
  const w = await budgetWorld()
  await w.addBudget({ limit: '3' })
  const { id } = await w.conversation()
  const idempotencyKey = 'the same'
  await w.post(id, { idempotencyKey })
  const again = await w.post(id, { idempotencyKey })
  assert.deepEqual([again.isReplay, await w.uses()], [true, ['0+1']])
  const closed = await w.conversation({ windowExpiresAt: null })
  assert.deepEqual(codesOf([await w.post(closed.id)]), ['422 WINDOW_CLOSED'])
  assert.deepEqual(await w.uses(), ['0+1'])
})

test('a process that dies after it reserved: settling the send gives the reservation back', async () => {
  const w = await budgetWorld()
  await w.addBudget({ limit: '1' })
  const { id } = await w.conversation()
  w.node.deps.step = afterStep((step) => {
    if (step === 'reserve') throw new Error('dead')
  })
  assert.equal((await w.post(id)).status, 500)
  w.node.deps.step = runStep
  assert.deepEqual(await w.uses(), ['0+1'])
  assert.deepEqual(await sendEach(w, 1), ['429 BUDGET_REACHED'])
  await w.db
    .sql`update dispatches set alive_until = statement_timestamp() - interval '1 ms' where conversation_id = ${id}`
  // It may have called the platform: its result is unknown for ten minutes.
  assert.deepEqual([await settleStrandedSends(w.node.deps), await w.uses()], [0, ['0+1']])
  w.clock.advance(10 * 60_000)
  assert.equal(await settleStrandedSends(w.node.deps), 1)
  assert.deepEqual([await w.uses(), await sendEach(w, 1)], [['0+0'], ['202 sent']])
})
