import type { App } from '../../base/route.ts'
import type { SendDeps } from '../send/send-deps.ts'
import type { InboxGuard } from './key-request.ts'
import { serveConversation, serveConversations, serveMessages } from './routes-read.ts'
import { serveTemplates } from './routes-templates.ts'
import { serveChanges, serveEchoes, serveRead } from './routes-write.ts'
import { sendRoutes } from './send-routes.ts'

/** The inbox interface: each route is validated, typed and documented by its schema. */
export function inboxRoutes(app: App, deps: SendDeps, guard: InboxGuard): void {
  for (const serve of [
    serveConversations,
    serveConversation,
    serveMessages,
    serveChanges,
    serveRead,
    serveEchoes,
    serveTemplates,
  ]) {
    serve(app, deps, guard)
  }
  sendRoutes(app, deps, guard)
}
