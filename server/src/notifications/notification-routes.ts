import { Type } from 'typebox'
import type { Clock } from '../base/clock.ts'
import type { Db } from '../base/db.ts'
import type { KeyStore } from '../base/encryption/key-store.ts'
import { forbidden, InvalidInput, invalid, notFound } from '../base/errors.ts'
import type { Outgoing } from '../base/outgoing/guarded-fetch.ts'
import type { App } from '../base/route.ts'
import type { Member, TeamGuard } from '../team/member.ts'
import { type TeamApi, teamApi } from '../team/team-api.ts'
import { idSchema, workspaceParams } from '../team/team-schema.ts'
import {
  countUnreadNotifications,
  listNotifications,
  markNotificationsRead,
  type Notification,
} from './notifications.ts'
import { checkSettings, isQuiet, readSettings, storeSettings } from './preferences.ts'
import type { NotificationNames, ResolveNames } from './push/push.ts'
import { addSubscription, type PushTarget, removeSubscription } from './push/subscriptions.ts'
import {
  MarkReadBody,
  NewSubscription,
  NotificationSettingsAnswer,
  NotificationSettingsBody,
  NotificationsPage,
  NotificationsQuery,
  unread,
} from './schema.ts'

export interface NotificationDeps {
  db: Db
  keyStore: KeyStore
  clock: Clock
  outgoing: Outgoing
  /** Returns the VAPID public key. */
  pushKey(): Promise<string>
  resolveNames: ResolveNames
  /** Marks the mentions of a person in these notes as read in the inbox too. */
  mentionsRead(workspaceId: string, userId: string, noteIds: readonly string[]): Promise<void>
}

const notificationsPath = '/api/team/v1/workspaces/:workspaceId/notices'
const pushPath = `${notificationsPath}/push-subscriptions`

function userIdOf({ workspaceId, userId }: Member) {
  if (userId === null) throw forbidden('Team tokens have no notifications. Sign in as a member.')
  return { workspaceId, userId }
}

export function notificationRoutes(app: App, deps: NotificationDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Notifications')
  const { db, clock, mentionsRead, resolveNames } = deps
  api.get(notificationsPath, 'member', {
    operationId: 'listNotices',
    summary: 'List notifications',
    description:
      'Newest first, one per cause, without own actions. The newest 500 are kept for 90 days. For members; team tokens get 403.',
    query: NotificationsQuery,
    answers: { 200: NotificationsPage },
    run: async ({ member, query }) => {
      const { workspaceId, userId } = userIdOf(member)
      const { unread: unreadOnly = false, limit = 30, cursor = null } = query
      const [page, count, { quiet }] = await Promise.all([
        listNotifications(db.sql, workspaceId, userId, { limit, unreadOnly, cursor }),
        countUnreadNotifications(db.sql, workspaceId, userId),
        readSettings(db.sql, workspaceId, userId),
      ])
      const names = await resolveNames(workspaceId, page.notifications)
      return {
        notices: page.notifications.map((notification, n) => presentNotification(notification, names[n])),
        unread: count,
        quiet: quiet !== null && isQuiet(quiet, clock.now()),
        cursor: page.cursor,
      }
    },
  })
  api.post(`${notificationsPath}/read`, 'member', {
    operationId: 'markNoticesRead',
    summary: 'Mark notifications as read',
    description:
      'Marks these notifications, those of one conversation, or all. Also marks their mentions in the inbox as read. Read notifications are not pushed.',
    body: MarkReadBody,
    answers: { 200: Type.Object({ unread }) },
    run: async ({ member, body }) => {
      const { workspaceId, userId } = userIdOf(member)
      const now = clock.now()
      const mentioned = await db.tx((tx) => markNotificationsRead(tx, workspaceId, userId, body, now))
      await mentionsRead(workspaceId, userId, mentioned)
      return { unread: await countUnreadNotifications(db.sql, workspaceId, userId) }
    },
  })
  settingsRoutes(api, deps)
  pushRoutes(api, deps)
}

function settingsRoutes(api: TeamApi, deps: NotificationDeps): void {
  const { db, pushKey, clock } = deps
  api.get(`${notificationsPath}/settings`, 'member', {
    operationId: 'getNoticeSettings',
    summary: 'Read notification preferences',
    description: 'My preferences in this workspace, or the defaults, and the VAPID key for browsers.',
    answers: { 200: NotificationSettingsAnswer },
    run: async ({ member }) => {
      const { workspaceId, userId } = userIdOf(member)
      return { settings: await readSettings(db.sql, workspaceId, userId), pushKey: await pushKey() }
    },
  })
  api.put(`${notificationsPath}/settings`, 'member', {
    operationId: 'updateNoticeSettings',
    summary: 'Update notification preferences',
    description: 'Replaces all preferences. Existing notifications stay.',
    body: NotificationSettingsBody,
    answers: { 200: NotificationSettingsAnswer },
    run: async ({ member, body }) => {
      const { workspaceId, userId } = userIdOf(member)
      const issues = checkSettings(body)
      if (issues.length > 0) throw new InvalidInput(issues)
      await db.tx((tx) => storeSettings(tx, workspaceId, userId, body, clock.now()))
      return { settings: await readSettings(db.sql, workspaceId, userId), pushKey: await pushKey() }
    },
  })
}

function presentNotification(notification: Notification, names: NotificationNames | undefined) {
  const { id, kind, count, actorType, actorId, conversationId, connectionId, reason, createdAt, readAt } = notification
  const { actorName = null, contact = null, connectionName = null } = names ?? {}
  return {
    id,
    kind,
    count,
    actor: actorType === null || actorId === null ? null : { type: actorType, id: actorId, name: actorName },
    conversation:
      conversationId === null
        ? null
        : { id: conversationId, name: contact?.name ?? null, phone: contact?.phone ?? null },
    connection: connectionId === null ? null : { id: connectionId, name: connectionName },
    reason,
    createdAt: createdAt.toISOString(),
    readAt: readAt?.toISOString() ?? null,
  }
}

function pushRoutes(api: TeamApi, deps: NotificationDeps): void {
  const { db, keyStore, clock, outgoing } = deps
  api.post(pushPath, 'member', {
    operationId: 'addPushSubscription',
    summary: 'Add a push subscription',
    description:
      'Send the result of `PushManager.subscribe`, called with `pushKey` of the settings. A repeated subscription of a browser replaces the earlier one. Each member can have 10; a new one replaces the oldest. It ends with the session, or when its push service reports it as gone.',
    body: NewSubscription,
    answers: { 201: Type.Object({ id: idSchema('The subscription.') }) },
    run: async ({ member, body }) => {
      const { workspaceId, userId } = userIdOf(member)
      const { sessionId } = member
      if (sessionId === null) throw forbidden('Push subscriptions require a browser session.')
      const { language, ...target } = body
      const refusal = outgoing.refusal(target.endpoint)
      if (refusal !== null) throw invalid('endpoint', refusal)
      if (!(await isValidTarget(target))) throw invalid('p256dh', 'must be the public key of a browser subscription')
      const id = await keyStore.withKeyring(workspaceId, (keyring) =>
        db.tx((tx) =>
          addSubscription(tx, keyring, workspaceId, { userId, sessionId }, { target, language }, clock.now()),
        ),
      )
      return { id }
    },
  })
  api.delete(`${pushPath}/:id`, 'member', {
    operationId: 'removePushSubscription',
    summary: 'Remove a push subscription',
    description: 'Only my own; 404 for others, and for one that has ended.',
    params: Type.Object({ ...workspaceParams, id: idSchema('The subscription.') }),
    run: async ({ member, params }) => {
      const { workspaceId, userId } = userIdOf(member)
      const isRemoved = await db.tx((tx) => removeSubscription(tx, workspaceId, userId, params.id))
      if (!isRemoved) throw notFound('Push subscription not found')
    },
  })
}

/** Returns whether a push can be encrypted: a point that is not on the curve would fail at each push. */
async function isValidTarget({ p256dh, auth }: PushTarget): Promise<boolean> {
  const { default: webPush } = await import('web-push')
  try {
    webPush.encrypt(p256dh, auth, '{}', 'aes128gcm')
    return true
  } catch {
    return false
  }
}
