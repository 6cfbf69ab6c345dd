import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { coalesce } from '../../../src/base/async/batch.ts'

type Step = ['add', key: string, item: string] | ['tick', ms: number] | ['end'] | ['fail']
const add = (item: string, key = 'a'): Step => ['add', key, item]

interface Case {
  when: string
  delayMs?: number
  minPauseMs?: number
  steps: Step[]
  runs: string[]
}

const cases: Case[] = [
  { when: 'idle: at once', steps: [add('1')], runs: ['a 1'] },
  { when: 'under way: together in the next', steps: [add('1'), add('2'), add('3'), ['end']], runs: ['a 1', 'a 2,3'] },
  { when: 'twice: once', steps: [add('1'), add('2'), add('2'), ['end']], runs: ['a 1', 'a 2'] },
  { when: 'the same as under way: again', steps: [add('1'), add('1'), ['end']], runs: ['a 1', 'a 1'] },
  { when: 'of another key: by itself', steps: [add('1'), add('2', 'b')], runs: ['a 1', 'b 2'] },
  { when: 'idle again: at once', steps: [add('1'), ['end'], add('2')], runs: ['a 1', 'a 2'] },
  { when: 'after a failure: all the same', steps: [add('1'), add('2'), ['fail']], runs: ['a 1', 'a 2'] },
  { when: 'gathering', delayMs: 15, steps: [add('1'), ['tick', 14], add('2')], runs: [] },
  { when: 'gathered', delayMs: 15, steps: [add('1'), ['tick', 14], add('2'), ['tick', 1]], runs: ['a 1,2'] },
  { when: 'resting', minPauseMs: 25, steps: [add('1'), ['end'], add('2'), ['tick', 24]], runs: ['a 1'] },
  {
    when: 'the rest begins at the end',
    minPauseMs: 25,
    steps: [add('1'), add('2'), ['tick', 99], ['end']],
    runs: ['a 1'],
  },
  { when: 'rested', minPauseMs: 25, steps: [add('1'), ['end'], add('2'), ['tick', 25]], runs: ['a 1', 'a 2'] },
]

for (const { when, steps, runs, ...times } of cases) {
  test(`items are coalesced: ${when}`, async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const begun: string[] = []
    const ends: PromiseWithResolvers<void>[] = []
    const errors: unknown[] = []
    const { add, close } = coalesce<string>({
      ...times,
      work: (key, items) => {
        begun.push(`${key} ${items.join()}`)
        const end = Promise.withResolvers<void>()
        ends.push(end)
        return end.promise
      },
      onError: (error, key) => errors.push([error, key]),
    })
    for (const step of steps) {
      if (step[0] === 'add') add(step[1], step[2])
      if (step[0] === 'tick') t.mock.timers.tick(step[1])
      if (step[0] === 'end') ends.shift()?.resolve()
      if (step[0] === 'fail') ends.shift()?.reject('no')
      await turn()
    }
    assert.deepEqual(begun, runs)
    assert.deepEqual(errors, steps.some(([what]) => what === 'fail') ? [['no', 'a']] : [])
    for (const end of ends) end.resolve()
    await close()
  })
}

test('close waits for the current run and starts no more', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const begun: string[] = []
  const end = Promise.withResolvers<void>()
  const work = (key: string) => {
    begun.push(key)
    return end.promise
  }
  const onError = () => assert.fail('nothing fails here')
  const atOnce = coalesce<string>({ work, onError })
  const gathering = coalesce<string>({ delayMs: 15, work, onError })
  atOnce.add('under way', '1')
  atOnce.add('under way', '2')
  gathering.add('gathers', '1')
  let isClosed = false
  const closed = atOnce.close().then(() => {
    isClosed = true
  })
  await gathering.close()
  atOnce.add('late', '3')
  t.mock.timers.tick(100)
  await turn()
  assert.equal(isClosed, false)
  end.resolve()
  await closed
  assert.deepEqual(begun, ['under way'])
})
