import type { App } from '../../base/route.ts'
import type { TeamGuard } from '../../team/member.ts'
import type { UploadDeps } from '../media/uploads.ts'
import type { SendDeps } from '../send/send-deps.ts'
import { type FileDeps, serveMedia } from './files/team-routes-file.ts'
import { serveGallery } from './files/team-routes-gallery.ts'
import { serveUploads } from './files/team-routes-uploads.ts'
import type { Presence } from './presence.ts'
import { serveTeamBulk } from './team-routes-bulk.ts'
import { connectionHealthRoute, type HealthDeps } from './team-routes-health.ts'
import { serveTeamConversations, serveTeamCounts } from './team-routes-list.ts'
import { serveMentions } from './team-routes-mentions.ts'
import { serveTeamNotes } from './team-routes-notes.ts'
import { serveHandBack, serveOffer, serveTakeOver } from './team-routes-owner.ts'
import { servePresence } from './team-routes-presence.ts'
import { serveTeamConversation, serveTeamMessages } from './team-routes-read.ts'
import { serveMessageSearch } from './team-routes-search.ts'
import { sendTeamRoutes } from './team-routes-send.ts'
import { serveStart } from './team-routes-start.ts'
import { serveTimeline } from './team-routes-timeline.ts'
import { serveTeamChanges, serveTeamRead, serveTeamUnread } from './team-routes-write.ts'

export type InboxTeamDeps = SendDeps & HealthDeps & FileDeps & UploadDeps & { presence: Presence }

/** The inbox as the team works in it. */
export function inboxTeamRoutes(app: App, deps: InboxTeamDeps, guard: TeamGuard): void {
  for (const serve of [
    serveTeamConversations,
    serveTeamCounts,
    serveMessageSearch,
    serveTeamConversation,
    serveTeamMessages,
    serveTimeline,
    serveTeamChanges,
    serveTeamBulk,
    serveTakeOver,
    serveHandBack,
    serveOffer,
    serveTeamNotes,
    serveTeamRead,
    serveTeamUnread,
    serveMentions,
    serveMedia,
    serveGallery,
    serveUploads,
  ]) {
    serve(app, deps, guard)
  }
  servePresence(app, deps, guard)
  sendTeamRoutes(app, deps, guard)
  serveStart(app, deps, guard)
  connectionHealthRoute(app, deps, guard)
}
