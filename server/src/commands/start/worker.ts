import { presentPayload } from '../../app/events.ts'
import { inboxReceive } from '../../app/inbox.ts'
import type { House } from '../../app/runtime.ts'
import type { Loop } from '../../base/async/loop.ts'
import { startSessions } from '../../channels/unofficial/session/worker.ts'
import { openTransports } from '../../channels/unofficial/transport/transports.ts'
import { startImports } from '../../leads/transfer/worker.ts'
import { createDeliveryWorker } from '../../webhooks/deliver/worker.ts'
import { startChores } from './chores.ts'

/** Starts what goes on without being asked. Any number of processes may do this at once. */
export function startWorker(house: House): Loop {
  const chores = startChores(house)
  const imports = startImports(house)
  const webhooks = createDeliveryWorker({ ...house, present: presentPayload, observe: house.metrics.webhooks })
  webhooks.start()
  const transportOf = openTransports(house)
  const sessions = startSessions({ ...house, receive: inboxReceive(house), transportOf, random: Math.random })
  return {
    stop: async () => {
      await Promise.all([sessions.stop(), webhooks.stop(), imports.stop(), chores.stop()])
    },
  }
}
