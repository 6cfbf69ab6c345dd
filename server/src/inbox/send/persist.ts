import { setTimeout as sleep } from 'node:timers/promises'

const delaysMs = [50, 250, 1000, 3000]

/** Does it again while it fails: what the platform answered must not be lost to a database that is briefly away. */
export async function persist<T>(work: () => Promise<T>): Promise<T> {
  for (const delayMs of delaysMs) {
    try {
      return await work()
    } catch {
      await sleep(delayMs)
    }
  }
  return work()
}
