import { createCircuitBreaker } from '../agents/circuit-breaker.ts'
import { agentFileRoutes, toolRoutes } from '../agents/http/routes.ts'
import { mcpRoutes } from '../agents/mcp/routes.ts'
import type { AgentDeps } from '../agents/tool.ts'
import { agentTools } from '../agents/tools/tools.ts'
import { createAgentUploads } from '../agents/tools/upload-file.ts'
import { createWorkQueue } from '../agents/work/work-queue.ts'
import type { KeyGuard } from '../auth/api-keys/authenticate.ts'
import { storePause } from '../auth/api-keys/queries.ts'
import { createBackgroundTasks } from '../base/async/batch.ts'
import type { App } from '../base/route.ts'
import type { FeedWatch } from '../events/feed-watch.ts'
import { serveAgentReference } from '../http/contract/reference.ts'
import { createSend } from '../inbox/send/send.ts'
import { leadReader } from '../leads/lead/identify.ts'
import { leadCreator } from '../leads/write/create.ts'
import { leadUpserter } from '../leads/write/upsert.ts'
import type { Inbox } from './inbox.ts'
import type { Runtime } from './runtime.ts'

export async function serveAgents(
  app: App,
  runtime: Runtime,
  guard: KeyGuard,
  { sends: inbox, uploads }: Pick<Inbox, 'sends' | 'uploads'>,
  watch: FeedWatch,
): Promise<void> {
  const workWaits = createWorkQueue({ ...runtime, watch })
  // Invalidates on every node including this one, after the guard.
  await runtime.db.listen('api_keys', workWaits.keyChanged)
  await runtime.db.listen('workspaces', workWaits.workspaceChanged)
  // Messages published while the LISTEN connection was lost are not delivered later.
  const stopHearing = runtime.db.onReconnect(workWaits.allChanged)
  // In `preClose`, because the server then waits for requests, and these would continue as long as allowed.
  app.addHook('preClose', async () => {
    stopHearing()
    workWaits.close()
  })
  const backgroundTasks = createBackgroundTasks()
  app.addHook('onClose', backgroundTasks.close)
  const failed = (error: unknown) => runtime.log.warn('failed to store an API key pause', {}, error)
  const deps: AgentDeps = {
    inbox,
    leads: runtime,
    send: createSend(inbox),
    readLead: leadReader(runtime),
    createLead: leadCreator(runtime),
    upsertLead: leadUpserter(runtime),
    lookupLimits: guard.lookupLimits,
    workWaits,
    uploads: createAgentUploads(inbox, uploads),
    circuitBreaker: createCircuitBreaker({
      clock: runtime.clock,
      notify: (...paused) => backgroundTasks.run(() => storePause(runtime.db, ...paused), failed),
    }),
  }
  toolRoutes(app, deps, guard, agentTools)
  agentFileRoutes(app, deps, guard)
  mcpRoutes(app, deps, guard, agentTools, { log: runtime.log, ...runtime.config.http })
  serveAgentReference(app, agentTools)
}
