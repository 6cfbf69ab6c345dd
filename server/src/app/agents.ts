import type { Guard } from '../access/keys/guard.ts'
import { verbRoutes } from '../agents/http/routes.ts'
import type { AgentDeps } from '../agents/verb.ts'
import { verbs } from '../agents/verbs/verbs.ts'
import type { App } from '../base/route.ts'
import type { SendDeps } from '../inbox/send/send-deps.ts'
import { openSend } from '../inbox/send/send-together.ts'
import type { Runtime } from './runtime.ts'

/** Puts the interface for agents on the server. */
export function serveAgents(app: App, runtime: Runtime, guard: Guard, inbox: SendDeps): void {
  const deps: AgentDeps = { inbox, leads: runtime, send: openSend(inbox), guesses: guard.guesses }
  verbRoutes(app, deps, guard, verbs)
}
