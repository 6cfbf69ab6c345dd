import { Type } from 'typebox'
import { type App, errors } from '../../base/route.ts'
import { cursor, page } from '../../base/schema-types.ts'
import { memberOf, type TeamGuard } from '../../team/member.ts'
import { teamRoute, workspaceParams } from '../../team/team-schema.ts'
import type { InboxDeps } from '../conversation/conversation.ts'
import { countViews, maxCounted } from '../read/count-views.ts'
import { listTeamConversations } from '../read/list.ts'
import { showConversations } from '../read/show.ts'
import { readTeamList } from './team-list-request.ts'
import { presentTeamConversation } from './team-present.ts'
import { conversationsPath, inboxPath, scopeOf } from './team-request.ts'
import { TeamConversation, TeamCounts, TeamListQuery } from './team-schema.ts'

export function serveTeamConversations(app: App, deps: InboxDeps, guard: TeamGuard): void {
  const { db, vault, clock } = deps
  app.route({
    method: 'GET',
    url: conversationsPath,
    onRequest: guard.member('member'),
    schema: {
      ...teamRoute('Team inbox'),
      operationId: 'listConversationsAsMember',
      summary: 'List conversations',
      description: 'Those written in last come first, unless `sort` says otherwise. Every filter narrows the list.',
      params: Type.Object(workspaceParams),
      querystring: TeamListQuery,
      response: {
        200: Type.Object({
          conversations: Type.Array(TeamConversation, page),
          cursor: Type.Union([cursor('For the next page.'), Type.Null()]),
        }),
        ...errors(400, 401, 404),
      },
    },
    handler: async (request) => {
      const member = memberOf(request)
      const asked = await readTeamList(request.query, member, deps)
      const keyring = await vault.keyring(member.workspaceId)
      const page = await listTeamConversations(db.sql, keyring, scopeOf(member), asked)
      const shown = await showConversations(deps, member.workspaceId, page.conversations)
      return {
        conversations: shown.map((each) => presentTeamConversation(each, clock.now())),
        cursor: page.cursor,
      }
    },
  })
}

export function serveTeamCounts(app: App, { db }: InboxDeps, guard: TeamGuard): void {
  app.route({
    method: 'GET',
    url: `${inboxPath}/counts`,
    onRequest: guard.member('member'),
    schema: {
      ...teamRoute('Team inbox'),
      operationId: 'countConversations',
      summary: 'Count the conversations of each view',
      description: `The open ones, and those of them with unread messages, as of now; beyond ${maxCounted} nobody is counted.`,
      params: Type.Object(workspaceParams),
      response: { 200: Type.Object({ counts: TeamCounts }), ...errors(400, 401, 404) },
    },
    handler: async (request) => {
      const { workspaceId, userId } = memberOf(request)
      return { counts: await countViews(db.sql, workspaceId, userId) }
    },
  })
}
