import type { App } from '../base/route.ts'
import type { Live } from '../events/live.ts'
import { markNotesRead } from '../inbox/notes/mentions.ts'
import { readContacts, readNames } from '../inbox/read/names.ts'
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
