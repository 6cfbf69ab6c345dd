import { presentPayload } from '../app-events.ts'
import type { House } from '../app-house.ts'
import type { Loop } from '../base/loop.ts'
import { createDeliveryWorker } from '../webhooks/worker.ts'
import { startChores } from './chores.ts'

/** Starts what goes on without being asked. Any number of processes may do this at once. */
export function startWorker(house: House): Loop {
  const { db, vault, clock, log, outgoing, metrics } = house
  const observe = metrics.webhooks
  const deliveries = createDeliveryWorker({ db, vault, clock, log, outgoing, present: presentPayload, observe })
  deliveries.start()
  const chores = startChores(house)
  return {
    stop: async () => {
      await Promise.all([deliveries.stop(), chores.stop()])
    },
  }
}
