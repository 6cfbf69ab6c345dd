import type { App } from '../../base/route.ts'
import type { InboxDeps } from '../conversation/conversation.ts'
import type { InboxGuard } from './key-request.ts'
import { serveConversation, serveConversations, serveMessages } from './routes-read.ts'
import { serveTemplates } from './routes-templates.ts'
import { serveChanges, serveEchoes, serveRead } from './routes-write.ts'

/** The inbox interface, but for sending: each route is validated, typed and documented by its schema. */
export function inboxRoutes(app: App, deps: InboxDeps, guard: InboxGuard): void {
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
}
