import type { House } from '../app-house.ts'
import type { Loop } from '../base/loop.ts'
import { startChores } from './chores.ts'

/** Starts what goes on without being asked. Any number of processes may do this at once. */
export function startWorker(house: House): Loop {
  const chores = startChores(house)
  return { stop: () => chores.stop() }
}
