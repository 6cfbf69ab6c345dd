import type { Guard } from '../access/keys/guard.ts'
import { storePause } from '../access/keys/queries.ts'
import { createBreaker } from '../agents/breaker.ts'
import { fileRoutes, verbRoutes } from '../agents/http/routes.ts'
import { mcpRoutes } from '../agents/mcp/routes.ts'
import type { AgentDeps } from '../agents/verb.ts'
import { agentUploads } from '../agents/verbs/upload-file.ts'
import { verbs } from '../agents/verbs/verbs.ts'
import { createWorkWaits } from '../agents/wait/work-waits.ts'
import { openErrands } from '../base/async/batch.ts'
import type { App } from '../base/route.ts'
import type { FeedWatch } from '../events/watch.ts'
import { serveAgentReference } from '../http/contract/reference.ts'
import { openSend } from '../inbox/send/send.ts'
import { leadReader } from '../leads/lead/identify.ts'
import { leadCreator } from '../leads/write/create.ts'
import { leadUpserter } from '../leads/write/upsert.ts'
import type { Inbox } from './inbox.ts'
import type { Runtime } from './runtime.ts'

/** Puts the interface for agents on the server. */
export async function serveAgents(
  app: App,
  runtime: Runtime,
  guard: Guard,
  { sends: inbox, uploads }: Pick<Inbox, 'sends' | 'uploads'>,
  watch: FeedWatch,
): Promise<void> {
  const waits = createWorkWaits({ ...runtime, watch })
  // On every node, this one too, and after the guard has forgotten them.
  await runtime.db.listen('api_keys', waits.keyChanged)
  await runtime.db.listen('workspaces', waits.workspaceChanged)
  // What it was not told of meanwhile, it is not told of later.
  const stopHearing = runtime.db.onHearingAgain(waits.allChanged)
  // Before the server waits for its requests to end: these would go on for as long as they may.
  app.addHook('preClose', async () => {
    stopHearing()
    waits.close()
  })
  const errands = openErrands()
  app.addHook('onClose', errands.close)
  const failed = (error: unknown) => runtime.log.warn('a pause of a key not stored', {}, error)
  const deps: AgentDeps = {
    inbox,
    leads: runtime,
    send: openSend(inbox),
    readLead: leadReader(runtime),
    createLead: leadCreator(runtime),
    upsertLead: leadUpserter(runtime),
    guesses: guard.guesses,
    waits,
    uploads: agentUploads(inbox, uploads),
    breaker: createBreaker({
      clock: runtime.clock,
      tell: (...paused) => errands.run(() => storePause(runtime.db, ...paused), failed),
    }),
  }
  verbRoutes(app, deps, guard, verbs)
  fileRoutes(app, deps, guard)
  mcpRoutes(app, deps, guard, verbs, { log: runtime.log, ...runtime.config.http })
  serveAgentReference(app, verbs)
}
