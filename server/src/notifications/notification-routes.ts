import { Type } from 'typebox'
import webPush from 'web-push'
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
import { checkQuietHours, isQuiet, readSettings, storeSettings } from './preferences.ts'
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
  /** What browsers subscribe with. */
  pushKey(): Promise<string>
  resolveNames: ResolveNames
  /** Marks the mentions of a person in these notes read, as their notices are. */
  mentionsRead(workspaceId: string, userId: string, noteIds: readonly string[]): Promise<void>
}

const notificationsPath = '/api/team/v1/workspaces/:workspaceId/notices'
const pushPath = `${notificationsPath}/push-subscriptions`

function userIdOf({ workspaceId, userId }: Member) {
  if (userId === null) throw forbidden('A token is nobody who could be told of anything. Sign in as a member.')
  return { workspaceId, userId }
}

/** What a member is told of, and how. */
export function notificationRoutes(app: App, deps: NotificationDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Notices')
  const { db, clock, mentionsRead, resolveNames } = deps
  api.get(notificationsPath, 'member', {
    operationId: 'listNotices',
    summary: 'List what I was told of',
    description:
      'Newest first: once for each cause, and nothing that I did myself. The newest 500 are kept, for 90 days. For members; a token is told of nothing (403).',
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
    summary: 'Mark what I was told of read',
    description:
      'These, those that tell of one conversation, or all. Mentions are then read in the inbox too. What is read is not pushed any more.',
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

/** How a person is told. */
function settingsRoutes(api: TeamApi, deps: NotificationDeps): void {
  const { db, pushKey } = deps
  api.get(`${notificationsPath}/settings`, 'member', {
    operationId: 'getNoticeSettings',
    summary: 'Read how I am told',
    description:
      'What I chose for this workspace, or what is usual for everybody. With the key that browsers subscribe with.',
    answers: { 200: NotificationSettingsAnswer },
    run: async ({ member }) => {
      const { workspaceId, userId } = userIdOf(member)
      return { settings: await readSettings(db.sql, workspaceId, userId), pushKey: await pushKey() }
    },
  })
  api.put(`${notificationsPath}/settings`, 'member', {
    operationId: 'updateNoticeSettings',
    summary: 'Change how I am told',
    description: 'All of it at once. What was told before stays.',
    body: NotificationSettingsBody,
    answers: { 200: NotificationSettingsAnswer },
    run: async ({ member, body }) => {
      const { workspaceId, userId } = userIdOf(member)
      const { quiet } = body
      const issues = quiet === null ? [] : checkQuietHours(quiet)
      if (issues.length > 0) throw new InvalidInput(issues)
      await db.tx((tx) => storeSettings(tx, workspaceId, userId, body))
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

/** The browsers of a member that are told while no page is open. */
function pushRoutes(api: TeamApi, deps: NotificationDeps): void {
  const { db, keyStore, clock, outgoing } = deps
  api.post(pushPath, 'member', {
    operationId: 'addPushSubscription',
    summary: 'Have this browser told',
    description:
      'What `PushManager.subscribe` gives, with `pushKey` of the settings. The same browser again replaces what is known of it. Of more than 10 the oldest goes. It ends with the session, and when its push service says that it is gone.',
    body: NewSubscription,
    answers: { 201: Type.Object({ id: idSchema('The subscription.') }) },
    run: async ({ member, body }) => {
      const { workspaceId, userId } = userIdOf(member)
      const { sessionId } = member
      if (sessionId === null) throw forbidden('Only a browser that signed in can be told.')
      const { language, ...target } = body
      const refusal = outgoing.refusal(target.endpoint)
      if (refusal !== null) throw invalid('endpoint', refusal)
      if (!isValidTarget(target)) throw invalid('p256dh', 'is no key of a browser: send those of its subscription')
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
    summary: 'Have a browser told no more',
    description: 'One of my own; 404 for all others, and for one that has ended by itself.',
    params: Type.Object({ ...workspaceParams, id: idSchema('The subscription.') }),
    run: async ({ member, params }) => {
      const { workspaceId, userId } = userIdOf(member)
      const isRemoved = await db.tx((tx) => removeSubscription(tx, workspaceId, userId, params.id))
      if (!isRemoved) throw notFound('This browser is not told. Nothing is to be done.')
    },
  })
}

/** A point that is not on the curve would fail at each push. */
function isValidTarget({ p256dh, auth }: PushTarget): boolean {
  try {
    webPush.encrypt(p256dh, auth, '{}', 'aes128gcm')
    return true
  } catch {
    return false
  }
}
