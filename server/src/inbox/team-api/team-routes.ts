import type { App } from '../../base/route.ts'
import type { TeamGuard } from '../../team/member.ts'
import type { InboxDeps } from '../conversation/conversation.ts'
import { serveTeamConversations, serveTeamCounts } from './team-routes-list.ts'
import { serveMentions } from './team-routes-mentions.ts'
import { serveTeamNotes } from './team-routes-notes.ts'
import { serveHandBack, serveTakeOver } from './team-routes-owner.ts'
import { serveTeamConversation, serveTeamMessages } from './team-routes-read.ts'
import { serveTimeline } from './team-routes-timeline.ts'
import { serveTeamChanges, serveTeamRead, serveTeamUnread } from './team-routes-write.ts'

/** The inbox as the team works in it, but for sending. */
export function inboxTeamRoutes(app: App, deps: InboxDeps, guard: TeamGuard): void {
  for (const serve of [
    serveTeamConversations,
    serveTeamCounts,
    serveTeamConversation,
    serveTeamMessages,
    serveTimeline,
    serveTeamChanges,
    serveTakeOver,
    serveHandBack,
    serveTeamNotes,
    serveTeamRead,
    serveTeamUnread,
    serveMentions,
  ]) {
    serve(app, deps, guard)
  }
}
