import type { App } from '../../base/route.ts'
import type { TeamGuard } from '../../team/member.ts'
import { teamApi } from '../../team/team-api.ts'
import type { UploadDeps } from '../media/uploads.ts'
import type { Typing } from '../read/typing.ts'
import { satisfactionRoutes } from '../satisfaction/satisfaction-routes.ts'
import type { SendDeps } from '../send/send-deps.ts'
import { bulkRoutes, changeRoutes, consentRoutes, ownerRoutes, readMarkRoutes } from './conversation-change-routes.ts'
import { conversationRoutes, listRoutes } from './conversation-routes.ts'
import { draftRoutes } from './draft-routes.ts'
import { type FileDeps, fileRoutes, galleryRoutes } from './files/file-routes.ts'
import { uploadRoutes } from './files/upload-routes.ts'
import { followUpRoutes } from './follow-up-routes.ts'
import { type HealthDeps, healthRoutes } from './health-routes.ts'
import { type Presence, presenceRoutes } from './live-updates.ts'
import { sendRoutes, startRoutes } from './new-message-routes.ts'
import { mentionRoutes, noteRoutes } from './note-routes.ts'
import { routingRoutes } from './routing-routes.ts'
import { searchRoutes } from './search-routes.ts'
import { timelineRoutes } from './timeline-routes.ts'

export type InboxTeamDeps = SendDeps & HealthDeps & FileDeps & UploadDeps & { presence: Presence; typing: Typing }

export function inboxTeamRoutes(app: App, deps: InboxTeamDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Team inbox')
  listRoutes(api, deps)
  searchRoutes(api, deps)
  conversationRoutes(api, deps)
  timelineRoutes(api, deps)
  changeRoutes(api, deps)
  bulkRoutes(api, deps)
  ownerRoutes(api, deps)
  consentRoutes(api, deps)
  draftRoutes(api, deps)
  noteRoutes(api, deps)
  readMarkRoutes(api, deps)
  mentionRoutes(api, deps)
  fileRoutes(app, deps, guard)
  galleryRoutes(api, deps)
  uploadRoutes(app, deps, guard)
  presenceRoutes(api, deps)
  sendRoutes(api, deps)
  startRoutes(api, deps)
  routingRoutes(api, deps)
  healthRoutes(app, deps, guard)
  followUpRoutes(api, deps)
  satisfactionRoutes(teamApi(app, guard, 'Satisfaction'), deps)
}
