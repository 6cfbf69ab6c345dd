import { setTimeout as sleep } from 'node:timers/promises'

/** Works on items, at most `atOnce` at a time; rejects with the first failure. */
export async function forEach<T>(items: readonly T[], atOnce: number, work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values()
  const next = async () => {
    for (const item of queue) await work(item)
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, next))
}

const lookAgainMs = 250

/**
 * Works on whatever is due, such as workspaces, until nothing is; `work` returns how much it has done. A slow one
 * occupies its place among `atOnce` and keeps nothing else waiting, also not what becomes due meanwhile. One of which
 * nothing could be done is left for later. Returns the sum; rejects with the first failure, after all work has ended.
 */
export async function forEachDue(
  listDue: () => Promise<readonly string[]>,
  atOnce: number,
  work: (id: string) => Promise<number>,
): Promise<number> {
  const [busy, left] = [new Map<string, Promise<void>>(), new Set<string>()]
  const failures: unknown[] = []
  let count = 0
  const run = async (id: string) => {
    try {
      const done = await work(id)
      count += done
      if (done === 0) left.add(id)
    } catch (error) {
      failures.push(error)
    }
    busy.delete(id)
  }
  for (let queue: string[] = [], looksAgain = true; ; ) {
    if (queue.length === 0 && looksAgain) {
      queue = (await listDue()).filter((id) => !busy.has(id) && !left.has(id))
    }
    for (const id of queue.splice(0, atOnce - busy.size)) busy.set(id, run(id))
    if (busy.size === 0) return count
    looksAgain = await Promise.race([
      ...[...busy.values()].map((one) => one.then(() => busy.size === 0)),
      sleep(lookAgainMs, true, { ref: false }),
    ])
    if (failures.length > 0) {
      await Promise.all(busy.values())
      throw failures[0]
    }
  }
}
