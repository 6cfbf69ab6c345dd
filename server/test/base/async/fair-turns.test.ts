import assert from 'node:assert/strict'
import { test } from 'node:test'
import { takeTurns } from '../../../src/base/async/fair-turns.ts'

test('each key has its turn, whatever another brings, one piece of work at a time', async () => {
  const inTurn = takeTurns()
  const begun: string[] = []
  let [running, most] = [0, 0]
  const work = (name: string) => async () => {
    begun.push(name)
    most = Math.max(most, ++running)
    await null
    running--
    return name
  }
  const names = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']
  const done = await Promise.all(names.map((name) => inTurn(name.slice(0, 1), work(name))))
  assert.deepEqual(done, names)
  assert.deepEqual(begun, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2'])
  assert.equal(most, 1)
  assert.equal(await inTurn('a', work('a4')), 'a4')
})

test('work that fails does not keep the next from running', async () => {
  const inTurn = takeTurns()
  const failing = inTurn('a', () => Promise.reject(new Error('no')))
  const next = inTurn('a', async () => 'yes')
  await assert.rejects(failing, { message: 'no' })
  assert.equal(await next, 'yes')
})
