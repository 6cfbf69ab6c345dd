import assert from 'node:assert/strict'
import { type ChatNumber, callbackOf, type NodesWorld } from '../program/two-nodes.ts'

export interface StormItem {
  list: 'messages' | 'statuses'
  value: unknown
  /** Called once a callback with it has been answered with 200. */
  stored?: () => void
}

export type Storm = ReturnType<typeof webhookStorm>

// More than the groups of a workspace that are under way at once in each process: the others go together.
const posters = 24
const copyShare = 3 / 7
const maxBatch = 100
const notJson = 0.03

/** Callbacks as a platform on a bad day posts them: out of order, in part twice, in batches of any size. */
export function webhookStorm(world: NodesWorld) {
  const waiting = world.connections.map((number) => ({ number, first: [] as StormItem[], rest: [] as StormItem[] }))
  const told = { items: 0, callbacks: 0, repeated: 0 }
  const post = async (number: ChatNumber, batch: StormItem[]) => {
    const send = (body: Buffer | object) => world.callback(anyOf(world.nodes), number, body)
    if (Math.random() < notJson) assert.equal((await send(Buffer.from('{"object":'))).status, 200)
    const { messages = [], statuses = [] } = Object.groupBy(batch, ({ list }) => list)
    const values = (items: StormItem[]) => items.map(({ value }) => value)
    const body = callbackOf(number, { messages: values(messages), statuses: values(statuses) })
    for (let status = 0; status !== 200; told.callbacks++) {
      const answer = await send(body)
      status = answer.status
      if (status === 200) continue
      assert.equal(status, 503, answer.text)
      told.repeated++
    }
    told.items += batch.length
    for (const { stored } of batch) stored?.()
  }
  const poster = async (isComplete: () => boolean) => {
    for (;;) {
      const isLast = isComplete()
      const some = waiting.filter(({ first, rest }) => first.length + rest.length > 0)
      const pool = some.find(({ first }) => first.length > 0) ?? (some.length > 0 ? anyOf(some) : undefined)
      if (pool !== undefined) await post(pool.number, takeBatch(pool.first, pool.rest))
      else if (isLast) return
      else await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
  return {
    /** How many items, copies included, were posted; in how many callbacks; how many of those had to be repeated. */
    told,
    /** Adds items to what is to be posted; `first` ones go with the next callback. */
    put: (number: ChatNumber, items: StormItem[], first = false) => {
      const pool = waiting.find((one) => one.number === number)
      ;(first ? pool?.first : pool?.rest)?.push(...items)
      pool?.rest.push(...items.filter(() => Math.random() < copyShare))
    },
    /** Posts in random batches to random processes until all is told and nothing more will come. */
    blow: (isComplete: () => boolean) => Promise.all(Array.from({ length: posters }, () => poster(isComplete))),
  }
}

function takeBatch(first: StormItem[], rest: StormItem[]): StormItem[] {
  const batch = first.splice(0, maxBatch)
  const size = Math.max(batch.length, 1 + Math.floor(Math.random() * maxBatch))
  while (batch.length < size && rest.length > 0) {
    const some = rest.splice(Math.floor(Math.random() * rest.length), 1)
    // Anywhere among the others, so that those that go first are not first within the callback.
    batch.splice(Math.floor(Math.random() * (batch.length + 1)), 0, ...some)
  }
  return batch
}

export function anyOf<T>(all: readonly T[]): T {
  return all[Math.floor(Math.random() * all.length)] ?? assert.fail('There is none')
}
