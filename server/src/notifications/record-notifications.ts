import { type Db, publish, type Sql, type Tx } from '../base/db.ts'
import { defaultPreferences, type NotificationKind } from './notification-kinds.ts'

export interface NewNotification {
  kind: NotificationKind
  /** What it is told of: under one cause a person is told once. */
  cause: string
  /** Whom it is for; null: every member. Who is no member is not told. */
  userId: string | null
  conversationId?: string | null
  connectionId?: string | null
  /** Why it is told of a connection; absent where that is down. */
  reason?: string
  /** How many conversations it stands for; 1 unless given. */
  count?: number
  /** False: for the bell alone, as one of many that come at once. */
  isPushed?: boolean
  /** Who did it, and is not told of it. */
  actor: { type: string; id: string | null }
}

/** Notices of a person that are new or read: the id is the workspace, a blank, and the user. */
export const notificationsTopic = 'notices'

export function publishNotifications(tx: Tx, workspaceId: string, userId: string): void {
  publish(tx, notificationsTopic, `${workspaceId} ${userId}`)
}

/** How long a page that is open has to show what is new, before the browsers of the person are told by push. */
export const pushAfterMs = 15_000

/**
 * Records what people are told of, in the transaction of its cause: for those who want to be told of such a thing, and never for
 * who did it. Returns for how many.
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
      push_at
    )
    select m.workspace_id, m.user_id, n.kind, n.cause, n.conversation_id, n.connection_id, n.count, n.actor_type,
      n.actor_id, n.reason, ${now}::timestamptz,
      case
        when n.is_pushed and ${isEnabled(tx, 'push')} and exists (
          select
          from push_subscriptions p
          where p.workspace_id = ${workspaceId}
            and p.user_id = m.user_id
        ) then ${new Date(now.getTime() + pushAfterMs)}::timestamptz
      end
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

/** Whether the person of `s` wants notices of the kind of `n` by this way. What was never chosen is as usual. */
const isEnabled = (sql: Sql, method: 'bell' | 'push') =>
  sql`coalesce((s.ways -> n.kind ->> ${method}::text)::boolean, (${sql.json(defaultPreferences)} -> n.kind ->> ${method}::text)::boolean)`

/** What each frame tells the pages that are open, for the description of the stream. */
export const notificationFrames = { 'team.notices': '`{}`: what you were told of is new, or read: list it anew' }

/** What tells the browsers of this node. */
interface LiveConnections {
  hasStreams(workspaceId: string): boolean
  publish(workspaceId: string, liveUpdate: { name: string; data: object; userId?: string }): void
}

/** Tells the pages of people whose notices changed, whichever node changed them. Returns how to stop. */
export function publishNotificationUpdates(db: Pick<Db, 'subscribe'>, pages: LiveConnections): () => void {
  return db.subscribe(notificationsTopic, (message) => {
    const [workspaceId = '', userId = ''] = message.split(' ')
    if (pages.hasStreams(workspaceId)) pages.publish(workspaceId, { name: 'team.notices', data: {}, userId })
  })
}
