import { Type } from 'typebox'
import { InvalidInput, type Issue } from '../../base/errors.ts'
import { readPhone } from '../../base/phone/phone.ts'
import { type App, errors } from '../../base/route.ts'
import { cursor, page } from '../../base/schema-types.ts'
import { type Member, memberOf, type TeamGuard } from '../../team/member.ts'
import { teamRoute, workspaceParams } from '../../team/team-schema.ts'
import { readOwnerFilter, readTime } from '../api/list-request.ts'
import type { InboxDeps } from '../conversation/conversation.ts'
import { type ConversationStatus, conversationStatuses } from '../conversation/conversation-state.ts'
import { countViews, maxCounted } from '../read/count-views.ts'
import { type ListRequest, listTeamConversations } from '../read/list.ts'
import type { ConversationFilter, InboxView, NamedSearch } from '../read/list-filter.ts'
import { showConversations } from '../read/show.ts'
import { readNameTerm } from '../search/conversation-lines.ts'
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

// No row has it: who looks after nothing finds nothing.
const nobody = '00000000-0000-0000-0000-000000000000'

/** Reads the query of the team's list as this member means it; throws `InvalidInput` for what cannot be. */
async function readTeamList(
  query: TeamListQuery,
  member: Member,
  deps: Pick<InboxDeps, 'phonesOfLeads'>,
): Promise<ListRequest> {
  const issues: Issue[] = []
  const filter: ConversationFilter = {
    connectionId: query.connectionId?.toLowerCase() ?? null,
    phone: query.phone ?? null,
    named: query.search === undefined ? null : await readNamed(query.search, member, deps),
    owner: query.owner === undefined ? null : readOwnerFilter(query.owner, issues),
    statuses: query.status === undefined ? null : readStatuses(query.status, issues),
    updatedAfter: query.updatedAfter === undefined ? null : readTime('updatedAfter', query.updatedAfter, issues),
    assignedTo: query.assignedTo === undefined ? null : readAssignee(query.assignedTo, member),
    labelId: query.labelId ?? null,
    view: readView(query.view, member),
    unreadOnly: query.unread ?? false,
    unansweredOnly: query.unanswered ?? false,
  }
  if (issues.length > 0) throw new InvalidInput(issues, 'query')
  return { filter, order: query.sort ?? 'recent', limit: query.limit ?? 30, cursor: query.cursor ?? null }
}

/** By what the row says, and by the names that leads have: of these only whoever keeps them knows. */
async function readNamed(
  text: string,
  { workspaceId, workspace }: Member,
  { phonesOfLeads }: Pick<InboxDeps, 'phonesOfLeads'>,
): Promise<NamedSearch> {
  const digits = readPhone(text, workspace.defaultCountry ?? undefined)
  const phones = digits === null ? await phonesOfLeads(workspaceId, text) : [digits]
  return { text, term: readNameTerm(text), phones }
}

function readStatuses(text: string, issues: Issue[]): ConversationStatus[] {
  const known = conversationStatuses.filter((status) => text.split(',').includes(status))
  const isKnown = (word: string) => known.some((status) => status === word)
  if (!text.split(',').every(isKnown)) {
    issues.push({ path: 'status', message: `must be some of ${conversationStatuses.join(', ')}, with commas between` })
  }
  return known
}

function readAssignee(text: string, { userId }: Member): ConversationFilter['assignedTo'] {
  if (text === 'none') return 'nobody'
  return { userId: text === 'me' ? (userId ?? nobody) : text.toLowerCase() }
}

function readView(view: TeamListQuery['view'], { userId }: Member): InboxView | null {
  if (view === undefined || view === 'all') return null
  return view === 'mine' ? { mine: userId ?? nobody } : view
}
