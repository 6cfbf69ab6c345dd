import { type ChannelAdapter, type CheckedNumber, nothingShown } from '../adapter.ts'
import type { SessionConnection } from '../connection/connection.ts'
import type { Wire } from '../waba/exchange.ts'
import { linkedMedia } from './media.ts'
import { sessionConnector } from './send/connector.ts'
import { resumeSession, type SessionDeps } from './session/change-session.ts'
import { findStanding } from './session/session-queries.ts'
import { channelSessionTeamRoutes } from './session/team-routes.ts'

/** Phones that link us as one of their devices. Their events come over the session, so nothing calls. */
export const sessionAdapter = (deps: SessionDeps & Pick<Wire, 'outgoing'>): ChannelAdapter<SessionConnection> => ({
  // The pairing tells the number; until then nothing else has this one.
  begin: ({ baseUrl }, id) => ({ numberId: id, accountId: null, settings: { baseUrl: baseUrl ?? null } }),
  changes: [],
  secretsSent: [],
  change: ({ numberId, accountId, settings }) => ({ numberId, accountId, settings }),
  show: ({ settings: { baseUrl } }) => ({ ...nothingShown, baseUrl }),
  webhookPath: () => null,
  verifyToken: () => null,
  check: (connection) => check(deps, connection),
  resume: ({ workspaceId, id }) => resumeSession(deps, workspaceId, id),
  connector: sessionConnector(deps),
  media: linkedMedia(deps),
  // The network's codes tell of the one message: that a session cannot send shows by its line.
  effectOfCode: () => 'none',
  teamRoutes: (app, guard) => channelSessionTeamRoutes(app, deps, guard),
})

/** Nobody is asked: where the session stands is what its holder wrote last. */
async function check({ db }: SessionDeps, { workspaceId, id }: SessionConnection): Promise<CheckedNumber> {
  const standing = await findStanding(db.sql, workspaceId, id)
  const problem = standing === undefined ? 'never_paired' : standing.state === 'open' ? null : standing.reason
  // The pairing has reserved it.
  return { problem, number: null, isOnPhone: true }
}
