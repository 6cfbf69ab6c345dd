import { createCircuitBreaker } from '../agents/circuit-breaker.ts'
import type { AgentDeps } from '../agents/define-tool.ts'
import { agentFileRoutes, toolRoutes } from '../agents/http/routes.ts'
import { mcpRoutes } from '../agents/mcp/routes.ts'
import { senderOf } from '../agents/presenters/viewer.ts'
import { agentTools } from '../agents/tools/all-tools.ts'
import { createAgentUploads } from '../agents/tools/upload-file.ts'
import { knowledgeOperations } from '../agents/tools/write-knowledge.ts'
import { createWorkQueue } from '../agents/work/work-queue.ts'
import type { KeyGuard } from '../auth/api-keys/authenticate.ts'
import { cacheableKey } from '../auth/api-keys/key-cache.ts'
import { selectKeyAsCaller, storePause } from '../auth/api-keys/queries.ts'
import { createBackgroundTasks } from '../base/async/batch.ts'
import { repeatAfterPause } from '../base/async/loop.ts'
import type { App } from '../base/route.ts'
import { createAgentBroadcast } from '../broadcasts/manage.ts'
import type { FeedWatch } from '../events/feed-watch.ts'
import { serveAgentReference } from '../http/contract/reference.ts'
import type { ScheduledSendDeps } from '../inbox/scheduled/send-due.ts'
import { createSend } from '../inbox/send/send.ts'
import type { Embedder } from '../knowledge/embeddings.ts'
import { makeLeadReader } from '../leads/lead/find-lead.ts'
import { makeLeadCreator } from '../leads/write/create.ts'
import { makeLeadUpserter } from '../leads/write/upsert.ts'
import { createCallRecorder } from '../scenarios/run/sandbox-calls.ts'
import { startForAgent } from '../sequences/start-for-agent.ts'
import { createTask } from '../tasks/change-task.ts'
import type { Inbox } from './inbox.ts'
import type { Runtime } from './runtime.ts'

/** Returns a function that reads a key as a sender of the interface for agents; null if it cannot send. */
export function agentSenderReader({ db, clock }: Pick<Runtime, 'db' | 'clock'>): ScheduledSendDeps['readAgentSender'] {
  return async (workspaceId, keyId) => {
    const row = await selectKeyAsCaller(db.sql, workspaceId, keyId, clock.now())
    if (row === null) return null
    const { caller } = cacheableKey(row)
    const { inboxEnabled, inboxAvailable } = caller.workspace
    return caller.may('inbox.write') && inboxEnabled && inboxAvailable ? senderOf(caller) : null
  }
}

export async function serveAgents(
  app: App,
  runtime: Runtime,
  guard: KeyGuard,
  { sends: inbox, uploads, typing }: Pick<Inbox, 'sends' | 'uploads' | 'typing'>,
  watch: FeedWatch,
  embedder: Embedder | null,
): Promise<void> {
  const workQueue = createWorkQueue({ ...runtime, watch, repeat: runtime.repeat ?? repeatAfterPause })
  // Invalidates on every node including this one, after the guard.
  await runtime.db.listen('api_keys', workQueue.recheckKey)
  await runtime.db.listen('workspaces', workQueue.recheckWorkspace)
  // Messages published while the LISTEN connection was lost are not delivered later.
  const unsubscribe = runtime.db.onReconnect(workQueue.recheckAll)
  // In `preClose`, because the server then waits for requests, and these would continue as long as allowed.
  app.addHook('preClose', async () => {
    unsubscribe()
    workQueue.close()
  })
  const backgroundTasks = createBackgroundTasks()
  app.addHook('onClose', backgroundTasks.close)
  const failed = (error: unknown) => runtime.log.warn('failed to store an API key pause', {}, error)
  const deps: AgentDeps = {
    inbox,
    leads: runtime,
    knowledge: { db: runtime.db, embedder },
    send: createSend(inbox),
    readLead: makeLeadReader(runtime),
    createLead: makeLeadCreator(runtime),
    upsertLead: makeLeadUpserter(runtime),
    lookupLimits: guard.lookupLimits,
    workQueue,
    uploads: createAgentUploads(inbox, uploads),
    typing,
    createTask: (by, task) => createTask(runtime, by, task),
    prepareBroadcast: (by, draft) => createAgentBroadcast({ sends: inbox, leads: runtime }, by, draft),
    startSequence: (by, start) => startForAgent(inbox, by, start),
    recordCall: createCallRecorder(runtime),
    circuitBreaker: createCircuitBreaker({
      clock: runtime.clock,
      notify: (...paused) => backgroundTasks.run(() => storePause(runtime.db, ...paused), failed),
    }),
  }
  toolRoutes(app, deps, guard, [...agentTools, ...knowledgeOperations])
  agentFileRoutes(app, deps, guard)
  mcpRoutes(app, deps, guard, agentTools, { log: runtime.log, ...runtime.config.http })
  serveAgentReference(app, agentTools, knowledgeOperations)
}
