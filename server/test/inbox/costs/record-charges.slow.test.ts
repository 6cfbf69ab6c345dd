import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ledgersOfOrders } from './charged-world.ts'

const messages = Number(process.env.CHARGED_MESSAGES ?? 1800)

test('10,000 shuffled, repeated and delayed statuses give the same ledger', { timeout: 600_000 }, async () => {
  const { expected, repeated, unordered } = await ledgersOfOrders(messages, 2)
  assert.equal(expected.length, messages)
  assert.deepEqual(repeated, expected)
  assert.deepEqual(unordered, expected)
})
