import { type Db, publish, type Sql, type Tx } from '../base/db.ts'
import { defaultPreferences, type NotificationKind } from './notification-kinds.ts'

export interface NewNotification {
  kind: NotificationKind
  /** Deduplicates: a person gets one notification per kind and cause. */
  cause: string
  /** Recipient; null: all members. Non-members get none. */
  userId: string | null
  conversationId?: string | null
  connectionId?: string | null
  /** Problem of a connection; omitted if it is down. */
  reason?: string
  /** Number of conversations; default 1. */
  count?: number
  /** False: without push, as for one of many at once. */
  isPushed?: boolean
  /** Who caused it, and is not notified. */
  actor: { type: string; id: string | null }
}

/** Published when notifications of a person are new or read; the id is the workspace, a space, and the user. */
export const notificationsTopic = 'notices'

export function publishNotifications(tx: Tx, workspaceId: string, userId: string): void {
  publish(tx, notificationsTopic, `${workspaceId} ${userId}`)
}

/** Time for an open page to show a notification before it is pushed. */
export const pushAfterMs = 15_000
/** Time for the person to read a notification before it is mailed. */
export const mailAfterMs = 5 * 60_000

/**
 * Records notifications in the transaction of their cause, for people whose preferences allow it, except who caused it.
 * Returns how many it recorded.
 */
export async function recordNotifications(
  tx: Tx,
  workspaceId: string,
  notifications: readonly NewNotification[],
  now: Date,
): Promise<number> {
  if (notifications.length === 0) return 0
  const notifiedUsers = await tx<{ userId: string }[]>`
    insert into notices (
      workspace_id, user_id, kind, cause, conversation_id, connection_id, count, actor_type, actor_id, reason, created_at,
      push_at, mail_at
    )
    select m.workspace_id, m.user_id, n.kind, n.cause, n.conversation_id, n.connection_id, n.count, n.actor_type,
      n.actor_id, n.reason, ${now}::timestamptz,
      case
        when n.is_pushed and ${isEnabled(tx, 'push')} and exists (
          select 1
          from push_subscriptions p
          where p.workspace_id = ${workspaceId}
            and p.user_id = m.user_id
        ) then ${new Date(now.getTime() + pushAfterMs)}::timestamptz
      end,
      case when ${isEnabled(tx, 'mail')} then ${new Date(now.getTime() + mailAfterMs)}::timestamptz end
    from unnest(
      ${notifications.map(({ kind }) => kind)}::text[],
      ${notifications.map(({ cause }) => cause)}::text[],
      ${notifications.map(({ userId }) => userId)}::uuid[],
      ${notifications.map(({ conversationId = null }) => conversationId)}::uuid[],
      ${notifications.map(({ connectionId = null }) => connectionId)}::uuid[],
      ${notifications.map(({ count = 1 }) => count)}::integer[],
      ${notifications.map(({ isPushed = true }) => String(isPushed))}::text[]::boolean[],
      ${notifications.map(({ actor }) => (isNamed(actor) ? actor.type : null))}::text[],
      ${notifications.map(({ actor }) => (isNamed(actor) ? actor.id : null))}::uuid[],
      ${notifications.map(({ reason = null }) => reason)}::text[]
    ) as n (kind, cause, user_id, conversation_id, connection_id, count, is_pushed, actor_type, actor_id, reason)
    join members m
      on m.workspace_id = ${workspaceId}
      and (n.user_id is null or m.user_id = n.user_id)
      and (n.actor_type is distinct from 'user' or m.user_id <> n.actor_id)
    left join notice_settings s
      on s.workspace_id = ${workspaceId}
      and s.user_id = m.user_id
    where ${isEnabled(tx, 'bell')}
    on conflict (workspace_id, user_id, kind, cause) do nothing
    returning user_id as "userId"`
  for (const { userId } of notifiedUsers) publishNotifications(tx, workspaceId, userId)
  return notifiedUsers.length
}

const isNamed = ({ type, id }: NewNotification['actor']): boolean =>
  id !== null && (type === 'agent' || type === 'user' || type === 'token')

/** SQL condition: the preferences `s` allow the kind of `n` by this method; defaults apply to missing ones. */
const isEnabled = (sql: Sql, method: 'bell' | 'push' | 'mail') =>
  sql`coalesce((s.ways -> n.kind ->> ${method}::text)::boolean, (${sql.json(defaultPreferences)} -> n.kind ->> ${method}::text)::boolean)`

/** Descriptions of live-only frames, for the documentation of the stream. */
export const notificationFrames = { 'team.notices': '`{}`: your notifications changed; list them again' }

interface LiveConnections {
  hasStreams(workspaceId: string): boolean
  publish(workspaceId: string, liveUpdate: { name: string; data: object; userId?: string }): void
}

/** Publishes changes of notifications from all processes to open pages. Returns a function that stops it. */
export function publishNotificationUpdates(db: Pick<Db, 'subscribe'>, pages: LiveConnections): () => void {
  return db.subscribe(notificationsTopic, (message) => {
    const [workspaceId = '', userId = ''] = message.split(' ')
    if (pages.hasStreams(workspaceId)) pages.publish(workspaceId, { name: 'team.notices', data: {}, userId })
  })
}
