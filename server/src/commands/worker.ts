import { presentPayload } from '../app-events.ts'
import type { House } from '../app-house.ts'
import type { Loop } from '../base/loop.ts'
import { startImports } from '../leads/transfer/worker.ts'
import { createDeliveryWorker } from '../webhooks/worker.ts'
import { startChores } from './chores.ts'

/** Starts what goes on without being asked. Any number of processes may do this at once. */
export function startWorker(house: House): Loop {
  const chores = startChores(house)
  const imports = startImports(house)
  const webhooks = createDeliveryWorker({ ...house, present: presentPayload, observe: house.metrics.webhooks })
  webhooks.start()
  return {
    stop: async () => {
      await Promise.all([webhooks.stop(), imports.stop(), chores.stop()])
    },
  }
}
