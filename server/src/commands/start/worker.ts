import { presentPayload } from '../../app/events.ts'
import { fetchDeps, inboxReceive, openFileOf } from '../../app/inbox.ts'
import type { Runtime } from '../../app/runtime.ts'
import type { Loop } from '../../base/async/loop.ts'
import { openTransports, startSessions } from '../../channels/unofficial/session/worker.ts'
import { createMediaFetcher } from '../../inbox/media/media-fetcher.ts'
import { openPreviews } from '../../inbox/media/preview.ts'
import { startBulkChanges } from '../../leads/bulk/run.ts'
import { startImports } from '../../leads/transfer/import/worker.ts'
import { createDeliveryWorker } from '../../webhooks/deliver/worker.ts'
import { startChores } from './chores.ts'

/** Starts what goes on without being asked. Any number of processes may do this at once. */
export function startWorker(runtime: Runtime): Loop {
  const chores = startChores(runtime)
  const imports = startImports(runtime)
  const bulkChanges = startBulkChanges(runtime)
  const webhooks = createDeliveryWorker({ ...runtime, present: presentPayload, observe: runtime.metrics.webhooks })
  webhooks.start()
  const transportOf = openTransports(runtime)
  const sessionDeps = { ...runtime, receive: inboxReceive(runtime), openFile: openFileOf(runtime), transportOf }
  const sessions = startSessions({ ...sessionDeps, random: Math.random })
  const previews = openPreviews(runtime)
  const files = createMediaFetcher(fetchDeps(runtime, previews))
  files.start()
  return {
    stop: async () => {
      await Promise.all([
        sessions.stop(),
        webhooks.stop(),
        imports.stop(),
        bulkChanges.stop(),
        chores.stop(),
        files.stop(),
      ])
      await previews.close()
    },
  }
}
