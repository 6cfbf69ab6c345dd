import { Type } from 'typebox'
import type { Sql } from '../../base/db.ts'
import { type App, nullable, timestamp } from '../../base/route.ts'
import { wholeNumber } from '../../base/schema-types.ts'
import { connectionNotFound, type StoredConnection } from '../../channels/connection/connection.ts'
import { connectionParams, connectionsPath } from '../../channels/connection/fields.ts'
import { type PresentDeps, presentConnection } from '../../channels/connection/present.ts'
import { findConnection } from '../../channels/connection/queries.ts'
import { connectionSchema } from '../../channels/connection/schema.ts'
import { worstLagKeptMs } from '../../channels/health/activity.ts'
import { adviceFor } from '../../channels/health/advice.ts'
import { listAdvice, silentMs, silentSends, silentSince } from '../../channels/health/health.ts'
import type { TeamGuard } from '../../team/member.ts'
import { teamApi } from '../../team/team-api.ts'
import { findNextAgent } from '../assignment/eligible-agents.ts'
import { touchedIds } from '../conversation/activity-columns.ts'
import type { ChangeDeps } from '../conversation/conversation.ts'

export interface HealthDeps extends PresentDeps, ChangeDeps {}

/** Routes for the health of a connection. In this module because most of it comes from messages. */
export function healthRoutes(app: App, deps: HealthDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Connections')
  const { db, keyStore, clock } = deps
  api.get(`${connectionsPath}/:connectionId/health`, 'member', {
    operationId: 'getConnectionHealth',
    summary: "Get a connection's health",
    description: 'Last events in and out, delivery lag, recent failures with their reasons, and what to do next.',
    params: connectionParams,
    answers: { 200: Type.Object({ health: healthSchema }) },
    run: async ({ member, params }) => {
      const { workspaceId } = member
      const one = await keyStore.withKeyring(workspaceId, (keyring) =>
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
            advice: adviceFor(code, one.channel),
          })),
          advice: listAdvice(one, isSilent, unusedAgent, webhookUrl, now),
        },
      }
    },
  })
}

const { state, stateReason, stateChangedAt, lastEventInAt, lastEventOutAt } = connectionSchema.properties
const text = Type.String({ maxLength: 1000, description: 'What to do next.' })
const lag = (description: string) => nullable(wholeNumber(description, { example: 850 }))

const healthSchema = Type.Object({
  state,
  stateReason,
  stateChangedAt,
  lastEventInAt,
  lastEventOutAt,
  lagMs: lag(
    'Delivery lag of the last event: time between the platform’s timestamp and its arrival, measured at most once a minute.',
  ),
  worstLagMs: lag('Longest delivery lag in about the last hour.'),
  newConversationsGoTo: nullable(
    Type.Object(
      {
        keyId: Type.String({ format: 'uuid', maxLength: 36, description: 'API key id.' }),
        name: Type.String({ maxLength: 100, description: 'Name of the key.', example: 'Support agent' }),
        lastUsedAt: nullable(timestamp('Last use of the key, accurate to a minute; null if never used.')),
      },
      {
        description:
          'Owner of new conversations: the oldest key that answers new conversations and can see the connection. Null: people.',
      },
    ),
  ),
  failures: Type.Array(
    Type.Object({
      code: Type.String({ maxLength: 50, description: 'Same as `errorCode` of messages.', example: '131026' }),
      count: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }),
      lastAt: timestamp('Time of the latest such message.'),
      advice: text,
    }),
    {
      maxItems: 20,
      description: 'Failed messages of the last 24 hours by code, most frequent first; at most 20 codes.',
    },
  ),
  advice: Type.Array(
    Type.Object({
      code: Type.String({
        maxLength: 200,
        description:
          'Topic: the `stateReason`, `paused`, `acknowledgement_required`, `nothing_arrives` if messages are sent but the platform reports nothing, not even their statuses, or `agent_never_used` if new conversations go to a key that was never used.',
        example: 'platform_error_190',
      }),
      text,
    }),
    { maxItems: 20, description: 'Empty if there are no problems.' },
  ),
})

interface Failure {
  code: string
  count: number
  lastAt: Date
}

interface Health {
  lagMs: number | null
  worstLagMs: number | null
  failures: Failure[]
  /** Whether messages were sent but nothing was received since. */
  isSilent: boolean
}

const dayMs = 86_400_000
const maxCodes = 20

async function readHealth(sql: Sql, one: StoredConnection, now: Date): Promise<Health> {
  const [lag, failures, isSilent] = await Promise.all([
    readLag(sql, one, now),
    readFailures(sql, one, new Date(now.getTime() - dayMs)),
    hasOnlyUnconfirmedSends(sql, one, new Date(now.getTime() - silentMs)),
  ])
  return { ...lag, failures, isSilent }
}

async function readLag(sql: Sql, { workspaceId, id }: StoredConnection, now: Date) {
  const since = new Date(now.getTime() - worstLagKeptMs)
  const [row] = await sql<Pick<Health, 'lagMs' | 'worstLagMs'>[]>`
    select
      lag_ms as "lagMs",
      case when worst_lag_at > ${since} then worst_lag_ms end as "worstLagMs"
    from connections
    where workspace_id = ${workspaceId}
      and id = ${id}`
  return { lagMs: row?.lagMs ?? null, worstLagMs: row?.worstLagMs ?? null }
}

async function readFailures(sql: Sql, { workspaceId, id }: StoredConnection, since: Date): Promise<Failure[]> {
  return sql<Failure[]>`
    select error_code as code, count(*)::integer as count, max(occurred_at) as "lastAt"
    from messages
    where workspace_id = ${workspaceId}
      and connection_id = ${id}
      and error_code is not null
      and occurred_at > ${since}
      and status = 'failed'
      and origin = 'live'
    group by error_code
    order by count(*) desc, error_code
    limit ${maxCodes}`
}

/**
 * Returns whether the platform accepted sends since the last event of the connection, all long enough ago to be
 * reported. Searches the conversations changed since then, which are few while nothing arrives.
 */
async function hasOnlyUnconfirmedSends(sql: Sql, one: StoredConnection, before: Date): Promise<boolean> {
  const since = silentSince(one)
  if (since >= before) return false
  const rows = await sql`
    select 1
    from conversations c
    join messages m
      on m.workspace_id = c.workspace_id
      and m.conversation_id = c.id
      and m.occurred_at > ${since}
      and m.occurred_at <= ${before}
    where c.workspace_id = ${one.workspaceId}
      and c.connection_id = ${one.id}
      and (c.updated_at > ${since} or c.id = any (array(${touchedIds(sql, one.workspaceId)})))
      and m.direction = 'outbound'
      and m.origin = 'live'
      and m.external_index is not null
    limit ${silentSends}`
  return rows.length === silentSends
}
