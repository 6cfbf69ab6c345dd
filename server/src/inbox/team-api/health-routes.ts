import { Type } from 'typebox'
import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/db.ts'
import type { App } from '../../base/route.ts'
import type { Vault } from '../../base/sealing/vault.ts'
import { connectionParams, connectionsPath } from '../../channels/connection/connection-routes.ts'
import { connectionNotFound } from '../../channels/connection/errors.ts'
import { type PresentDeps, presentConnection } from '../../channels/connection/present.ts'
import { findConnection } from '../../channels/connection/queries.ts'
import { adviceOn } from '../../channels/health/advice.ts'
import { adviseOn } from '../../channels/health/health.ts'
import { healthSchema } from '../../channels/health/health-schema.ts'
import type { TeamGuard } from '../../team/member.ts'
import { teamApi } from '../../team/team-api.ts'
import { findNextAgent } from '../ownership/agents.ts'
import { readHealth } from '../read/connection-health.ts'

export interface HealthDeps extends PresentDeps {
  db: Db
  vault: Vault
  clock: Clock
}

/** How a connection does, and what to do about it. Here, because its messages tell most of that. */
export function healthRoutes(app: App, deps: HealthDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Connections')
  const { db, vault, clock } = deps
  api.get(`${connectionsPath}/:connectionId/health`, 'member', {
    operationId: 'getConnectionHealth',
    summary: "Read a connection's health",
    description: 'What it last heard and sent, how late, what failed of late and why, and what to do next.',
    params: connectionParams,
    answers: { 200: Type.Object({ health: healthSchema }) },
    run: async ({ member, params }) => {
      const { workspaceId } = member
      const one = await vault.withKeyring(workspaceId, (keyring) =>
        findConnection(db.sql, keyring, workspaceId, params.connectionId),
      )
      if (one === undefined) throw connectionNotFound()
      const now = clock.now()
      const { lagMs, worstLagMs, failures, isSilent } = await readHealth(db.sql, one, now)
      const next = await findNextAgent(db.sql, workspaceId, one.id, now)
      const unusedAgent = next?.lastUsedAt === null ? next.name : null
      const { state, stateReason, stateChangedAt, lastEventInAt, lastEventOutAt, webhookUrl } = presentConnection(
        deps,
        one,
      )
      return {
        health: {
          ...{ state, stateReason, stateChangedAt, lastEventInAt, lastEventOutAt, lagMs, worstLagMs },
          newConversationsGoTo: next && { ...next, lastUsedAt: next.lastUsedAt?.toISOString() ?? null },
          failures: failures.map(({ code, count, lastAt }) => ({
            code,
            count,
            lastAt: lastAt.toISOString(),
            advice: adviceOn(code, one.channel),
          })),
          advice: adviseOn(one, isSilent, unusedAgent, webhookUrl, now),
        },
      }
    },
  })
}
