import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDue } from '../../../src/base/async/for-each.ts'

/** Work that is due until it is done, one unit at a time. */
function duties(amounts: Record<string, number>) {
  const open = new Map(Object.entries(amounts))
  return {
    open,
    list: async () => [...open.keys()],
    take: (id: string) => {
      const left = (open.get(id) ?? 0) - 1
      if (left > 0) open.set(id, left)
      else open.delete(id)
    },
  }
}

test('everything that is due is done, at most as much at once as allowed', async () => {
  const { list, take, open } = duties({ a: 3, b: 1, c: 2 })
  let [now, most] = [0, 0]
  const done = await forEachDue(list, 2, async (id) => {
    most = Math.max(most, ++now)
    await Promise.resolve()
    take(id)
    now--
    return 1
  })
  assert.deepEqual([done, most, open.size], [6, 2, 0])
})

test('a slow one keeps nothing waiting that becomes due meanwhile, and is not begun twice', async () => {
  const { list, take, open } = duties({ slow: 1, a: 1 })
  const order: string[] = []
  const { promise: isReleased, resolve: release } = Promise.withResolvers<void>()
  const done = await forEachDue(list, 2, async (id) => {
    order.push(id)
    if (id === 'slow') await isReleased
    take(id)
    if (id === 'a') open.set('late', 1)
    if (id === 'late') release()
    return 1
  })
  assert.deepEqual([done, order], [3, ['slow', 'a', 'late']])
})

test('what another process holds is left, and a failure is thrown after the rest has ended', async () => {
  const { list } = duties({ held: 1 })
  assert.equal(await forEachDue(list, 2, async () => 0), 0)
  const ended: string[] = []
  const failing = forEachDue(duties({ bad: 1, good: 1 }).list, 2, async (id) => {
    if (id === 'bad') throw new Error('no answer')
    await new Promise(setImmediate)
    ended.push(id)
    return 1
  })
  await assert.rejects(failing, /no answer/)
  assert.deepEqual(ended, ['good'])
})
