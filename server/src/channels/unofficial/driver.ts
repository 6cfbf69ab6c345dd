import type { SessionConnection } from '../connection/connection.ts'
import type { Driver } from '../driver.ts'
import { resumeSession, type SessionDeps } from './session/change-session.ts'
import { findStanding } from './session/session-queries.ts'

/** Nobody is asked: where the session stands is what its holder wrote last. */
export const sessionDriver = (deps: SessionDeps): Driver<SessionConnection> => ({
  check: async ({ workspaceId, id }) => {
    const standing = await findStanding(deps.db.sql, workspaceId, id)
    const problem = standing === undefined ? 'never_paired' : standing.state === 'open' ? null : standing.reason
    // The pairing has reserved it.
    return { problem, number: null, isOnPhone: true }
  },
  resume: ({ workspaceId, id }) => resumeSession(deps, workspaceId, id),
})
