import { Type } from 'typebox'
import { InvalidInput } from '../base/errors.ts'
import { type App, errors } from '../base/route.ts'
import { memberOf, type TeamGuard } from '../team/member.ts'
import { countUnreadNotices, listNotices, markNoticesRead, type Notice } from './notices.ts'
import type { NamedThings } from './push/push.ts'
import { servePush } from './push/team-routes-push.ts'
import { isQuiet, issuesOfQuiet } from './quiet-hours.ts'
import { NoticeSettingsAnswer, NoticeSettingsBody, NoticesPage, NoticesQuery, ReadNotices, unread } from './schema.ts'
import { readSettings, storeSettings } from './settings.ts'
import { type NoticeDeps, noticeParams, noticeRoute, noticesPath, personOf } from './team-request.ts'

/** What a member is told of, and how. */
export function noticeTeamRoutes(app: App, deps: NoticeDeps, guard: TeamGuard): void {
  serveNotices(app, deps, guard)
  serveReading(app, deps, guard)
  serveSettings(app, deps, guard)
  servePush(app, deps, guard)
}

function serveNotices(app: App, { db, clock, nameThings }: NoticeDeps, guard: TeamGuard): void {
  app.route({
    method: 'GET',
    url: noticesPath,
    onRequest: guard.member('member'),
    schema: {
      ...noticeRoute,
      operationId: 'listNotices',
      summary: 'List what I was told of',
      description:
        'Newest first: once for each cause, and nothing that I did myself. The newest 500 are kept, for 90 days. For members; a token is told of nothing (403).',
      params: noticeParams,
      querystring: NoticesQuery,
      response: { 200: NoticesPage, ...errors(400, 401, 403, 404) },
    },
    handler: async (request) => {
      const { workspaceId } = memberOf(request)
      const userId = personOf(memberOf(request))
      const { unread: unreadOnly = false, limit = 30, cursor = null } = request.query
      const [page, count, { quiet }] = await Promise.all([
        listNotices(db.sql, workspaceId, userId, { limit, unreadOnly, cursor }),
        countUnreadNotices(db.sql, workspaceId, userId),
        readSettings(db.sql, workspaceId, userId),
      ])
      const named = await nameThings(workspaceId, page.notices)
      return {
        notices: page.notices.map((notice, n) => present(notice, named[n])),
        unread: count,
        quiet: quiet !== null && isQuiet(quiet, clock.now()),
        cursor: page.cursor,
      }
    },
  })
}

function present(notice: Notice, named: NamedThings | undefined) {
  const { id, kind, count, actorType, actorId, conversationId, connectionId, reason, createdAt, readAt } = notice
  const { actorName = null, contact = null, connectionName = null } = named ?? {}
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

function serveReading(app: App, { db, clock, mentionsRead }: NoticeDeps, guard: TeamGuard): void {
  app.route({
    method: 'POST',
    url: `${noticesPath}/read`,
    onRequest: guard.member('member'),
    schema: {
      ...noticeRoute,
      operationId: 'markNoticesRead',
      summary: 'Mark what I was told of read',
      description:
        'These, those that tell of one conversation, or all. Mentions are then read in the inbox too. What is read is not pushed any more.',
      params: noticeParams,
      body: ReadNotices,
      response: { 200: Type.Object({ unread }), ...errors(400, 401, 403, 404, 413, 415) },
    },
    handler: async (request) => {
      const { workspaceId } = memberOf(request)
      const userId = personOf(memberOf(request))
      const now = clock.now()
      const mentioned = await db.tx((tx) => markNoticesRead(tx, workspaceId, userId, request.body, now))
      await mentionsRead(workspaceId, userId, mentioned)
      return { unread: await countUnreadNotices(db.sql, workspaceId, userId) }
    },
  })
}

function serveSettings(app: App, { db, pushKey }: NoticeDeps, guard: TeamGuard): void {
  app.route({
    method: 'GET',
    url: `${noticesPath}/settings`,
    onRequest: guard.member('member'),
    schema: {
      ...noticeRoute,
      operationId: 'getNoticeSettings',
      summary: 'Read how I am told',
      description:
        'What I chose for this workspace, or what is usual for everybody. With the key that browsers subscribe with.',
      params: noticeParams,
      response: { 200: NoticeSettingsAnswer, ...errors(400, 401, 403, 404) },
    },
    handler: async (request) => {
      const { workspaceId } = memberOf(request)
      const userId = personOf(memberOf(request))
      return { settings: await readSettings(db.sql, workspaceId, userId), pushKey: await pushKey() }
    },
  })
  app.route({
    method: 'PUT',
    url: `${noticesPath}/settings`,
    onRequest: guard.member('member'),
    schema: {
      ...noticeRoute,
      operationId: 'updateNoticeSettings',
      summary: 'Change how I am told',
      description: 'All of it at once. What was told before stays.',
      params: noticeParams,
      body: NoticeSettingsBody,
      response: { 200: NoticeSettingsAnswer, ...errors(400, 401, 403, 404, 413, 415) },
    },
    handler: async (request) => {
      const { workspaceId } = memberOf(request)
      const userId = personOf(memberOf(request))
      const { quiet } = request.body
      const issues = quiet === null ? [] : issuesOfQuiet(quiet)
      if (issues.length > 0) throw new InvalidInput(issues)
      await db.tx((tx) => storeSettings(tx, workspaceId, userId, request.body))
      return { settings: await readSettings(db.sql, workspaceId, userId), pushKey: await pushKey() }
    },
  })
}
