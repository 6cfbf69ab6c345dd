import { findRecipients } from '../auth/users/members.ts'
import { decryptPerson } from '../auth/users/users.ts'
import { instanceScope } from '../base/encryption/key-store.ts'
import type { App } from '../base/route.ts'
import type { Live } from '../events/live.ts'
import { markNotesRead } from '../inbox/notes/mentions.ts'
import { countUnanswered, countViews, maxCounted } from '../inbox/read/count-views.ts'
import { readContacts, readNames } from '../inbox/read/names.ts'
import type { DigestDeps } from '../notifications/mail/digest.ts'
import { notificationRoutes } from '../notifications/notification-routes.ts'
import type { PushDeps, ResolveNames } from '../notifications/push/push.ts'
import { ensurePushKeys } from '../notifications/push/subscriptions.ts'
import { publishNotificationUpdates } from '../notifications/record-notifications.ts'
import type { TeamGuard } from '../team/member.ts'
import { createFindLeads } from './inbox.ts'
import type { Runtime } from './runtime.ts'

/** Returns the names of what notifications refer to, as the inbox knows them. */
function createNameResolver(runtime: Runtime): ResolveNames {
  const { db, keyStore } = runtime
  return async (workspaceId, notices) => {
    if (notices.length === 0) return []
    const [names, contacts] = await Promise.all([
      readNames(
        { db, keyStore },
        workspaceId,
        notices.flatMap(({ actorType, actorId, connectionId }) => [
          ...(actorType === null || actorId === null ? [] : [{ type: actorType, id: actorId }]),
          ...(connectionId === null ? [] : [{ type: 'connection' as const, id: connectionId }]),
        ]),
      ),
      readContacts(
        { db, keyStore, findLeads: createFindLeads(runtime) },
        workspaceId,
        notices.flatMap(({ conversationId }) => conversationId ?? []),
      ),
    ])
    return notices.map(({ actorType, actorId, conversationId, connectionId }) => ({
      actorName: actorType === null ? null : names(actorType, actorId),
      contact: (conversationId === null ? undefined : contacts.get(conversationId)) ?? null,
      connectionName: names('connection', connectionId),
    }))
  }
}

export function pushDeps(runtime: Runtime): PushDeps {
  return { ...runtime, publicUrl: runtime.config.http.publicUrl, resolveNames: createNameResolver(runtime) }
}

/** Dependencies of mails about notifications and of digests. */
export function notificationMailDeps(runtime: Runtime): DigestDeps {
  const { db, keyStore } = runtime
  return {
    ...pushDeps(runtime),
    maxCount: maxCounted,
    findRecipients: async (workspaceId, userIds) => {
      const { workspaceName, users } = await findRecipients(db.sql, workspaceId, userIds)
      return keyStore.withKeyring(instanceScope, (keys) => {
        const recipientOf = ({ id, person, language }: (typeof users)[number]) => {
          const { email } = decryptPerson(keys, id, person)
          return [id, { email, language: language ?? 'en', workspaceName }] as const
        }
        return new Map(users.map(recipientOf))
      })
    },
    countInbox: async (workspaceId, userId, now) => {
      const [{ mine, unassigned }, waiting] = await Promise.all([
        countViews(db.sql, workspaceId, userId),
        countUnanswered(db.sql, workspaceId, now),
      ])
      const ofPeople = waiting.filter(({ ownedByAgent }) => !ownedByAgent).reduce((sum, { count }) => sum + count, 0)
      const waitingCount = Math.min(ofPeople, maxCounted)
      return { waiting: waitingCount, mine: mine.open, mineUnread: mine.unread, unassigned: unassigned.open }
    },
  }
}

export function serveNotifications(app: App, runtime: Runtime, teamGuard: TeamGuard, live: Live): void {
  const { db, clock } = runtime
  const stop = publishNotificationUpdates(db, live)
  app.addHook('preClose', async () => stop())
  const deps = {
    ...runtime,
    pushKey: async () => (await ensurePushKeys(runtime)).publicKey,
    resolveNames: createNameResolver(runtime),
    mentionsRead: (workspaceId: string, userId: string, noteIds: readonly string[]) =>
      markNotesRead(db, workspaceId, userId, noteIds, clock.now()),
  }
  notificationRoutes(app, deps, teamGuard)
}
