import { Type } from 'typebox'
import { InvalidInput, type Issue } from '../../base/errors.ts'
import { parsePhone } from '../../base/phone/phone.ts'
import { timestamp } from '../../base/route.ts'
import { cursor, page } from '../../base/schema-types.ts'
import type { Member } from '../../team/member.ts'
import type { TeamApi } from '../../team/team-api.ts'
import { parseOwnerFilter, parseTime } from '../api/key-request.ts'
import { MessagesQuery } from '../api/schema.ts'
import type { InboxDeps, LeadSummary } from '../conversation/conversation.ts'
import { type ConversationStatus, conversationStatuses } from '../conversation/conversation-state.ts'
import { decryptConversation } from '../conversation/encrypted-conversation.ts'
import { findFirstMessageTime, findReferral } from '../conversation/message-queries.ts'
import { requireConversation } from '../conversation/queries.ts'
import { listNotes } from '../notes/notes.ts'
import { countViews, maxCounted } from '../read/count-views.ts'
import { type ListRequest, listTeamConversations } from '../read/list.ts'
import type { ConversationFilter, InboxView, NamedSearch } from '../read/list-filter.ts'
import { actorReferences, readConversationViews, readNames } from '../read/names.ts'
import { readDetails } from '../read/read-details.ts'
import { readMessages, teamMessageColumns } from '../read/read-messages.ts'
import { parseNameTerm } from '../search/conversation-tokens.ts'
import {
  TeamConversation,
  TeamConversationParams,
  TeamCounts,
  TeamLead,
  TeamListQuery,
  TeamMessage,
  TeamNote,
} from './inbox-schema.ts'
import {
  conversationsPath,
  inboxPath,
  presentOne,
  presentTeamConversation,
  presentTeamMessage,
  presentTeamNotes,
  scopeOf,
} from './present-conversation.ts'

export function listRoutes(api: TeamApi, deps: InboxDeps): void {
  const { db, keyStore, clock } = deps
  api.get(conversationsPath, 'member', {
    operationId: 'listConversationsAsMember',
    summary: 'List conversations',
    description: 'Sorted by newest message unless `sort` is given. Filters combine with AND.',
    query: TeamListQuery,
    answers: {
      200: Type.Object({
        conversations: Type.Array(TeamConversation, page),
        cursor: Type.Union([cursor('Cursor of the next page.'), Type.Null()]),
      }),
    },
    allErrors: [400, 401, 404],
    run: async ({ member, query }) => {
      const request = await parseTeamList(query, member, deps)
      const keyring = await keyStore.keyring(member.workspaceId)
      const page = await listTeamConversations({ sql: db.sql, keyring, ...scopeOf(member) }, request)
      const shown = await readConversationViews(deps, member.workspaceId, page.conversations)
      return {
        conversations: shown.map((each) => presentTeamConversation(each, clock.now())),
        cursor: page.cursor,
      }
    },
  })
  api.get(`${inboxPath}/counts`, 'member', {
    operationId: 'countConversations',
    summary: 'Count the conversations of each view',
    description: `Number of open conversations and of those with unread messages, capped at ${maxCounted}.`,
    answers: { 200: Type.Object({ counts: TeamCounts }) },
    allErrors: [400, 401, 404],
    run: async ({ member }) => {
      const { workspaceId, userId } = member
      return { counts: await countViews(db.sql, workspaceId, userId) }
    },
  })
}

// No user has this id: a token is the assignee of no conversation.
const noUserId = '00000000-0000-0000-0000-000000000000'

/** Parses the query of the team's list for this member. Throws `InvalidInput` for invalid values. */
async function parseTeamList(
  query: TeamListQuery,
  member: Member,
  deps: Pick<InboxDeps, 'findLeadPhones'>,
): Promise<ListRequest> {
  const issues: Issue[] = []
  const filter: ConversationFilter = {
    connectionId: query.connectionId?.toLowerCase() ?? null,
    phone: query.phone ?? null,
    nameSearch: query.search === undefined ? null : await parseNameSearch(query.search, member, deps),
    owner: query.owner === undefined ? null : parseOwnerFilter(query.owner, issues),
    statuses: query.status === undefined ? null : parseStatuses(query.status, issues),
    updatedAfter: query.updatedAfter === undefined ? null : parseTime('updatedAfter', query.updatedAfter, issues),
    assignedTo: query.assignedTo === undefined ? null : parseAssignee(query.assignedTo, member),
    teamId: query.teamId === undefined ? null : query.teamId.toLowerCase(),
    labelId: query.labelId ?? null,
    view: parseView(query.view, member),
    unreadOnly: query.unread ?? false,
    unansweredOnly: query.unanswered ?? false,
    priority: query.priority ?? null,
    overdueOnly: query.overdue ?? false,
  }
  if (issues.length > 0) throw new InvalidInput(issues, 'query')
  return { filter, order: query.sort ?? 'recent', limit: query.limit ?? 30, cursor: query.cursor ?? null }
}

/** Searches the name shown in the list, and the names of leads, which only the leads module knows. */
async function parseNameSearch(
  text: string,
  { workspaceId, workspace }: Member,
  { findLeadPhones }: Pick<InboxDeps, 'findLeadPhones'>,
): Promise<NamedSearch> {
  const digits = parsePhone(text, workspace.defaultCountry ?? undefined)
  const phones = digits === null ? await findLeadPhones(workspaceId, text) : [digits]
  return { text, term: parseNameTerm(text), phones }
}

function parseStatuses(text: string, issues: Issue[]): ConversationStatus[] {
  const known = conversationStatuses.filter((status) => text.split(',').includes(status))
  const isKnown = (word: string) => known.some((status) => status === word)
  if (!text.split(',').every(isKnown)) {
    issues.push({ path: 'status', message: `must be some of ${conversationStatuses.join(', ')}, separated by commas` })
  }
  return known
}

function parseAssignee(text: string, { userId }: Member): ConversationFilter['assignedTo'] {
  if (text === 'none') return 'nobody'
  return { userId: text === 'me' ? (userId ?? noUserId) : text.toLowerCase() }
}

function parseView(view: TeamListQuery['view'], { userId }: Member): InboxView | null {
  if (view === undefined || view === 'all') return null
  return view === 'mine' ? { mine: userId ?? noUserId } : view
}

const nullableLead = Type.Union([TeamLead, Type.Null()])

export function conversationRoutes(api: TeamApi, deps: InboxDeps): void {
  const { db, keyStore, findLead } = deps
  api.get(`${conversationsPath}/:id`, 'member', {
    operationId: 'getConversationAsMember',
    summary: 'Retrieve a conversation',
    description:
      'Includes the newest 200 notes, oldest first, the lead with the customer’s phone, and the last ad that brought the customer.',
    params: TeamConversationParams,
    answers: {
      200: Type.Object({
        conversation: TeamConversation,
        notes: Type.Array(TeamNote, { maxItems: 200 }),
        lead: nullableLead,
        firstContactAt: timestamp('Time of the first contact: creation or first message, whichever is earlier.'),
        referral: TeamMessage.properties.referral,
      }),
    },
    allErrors: [400, 401, 404],
    run: async ({ member, params }) => {
      const keyring = await keyStore.keyring(member.workspaceId)
      const row = await requireConversation(db.sql, scopeOf(member), params.id)
      const decrypted = decryptConversation(keyring, row)
      const { phone } = decrypted.contact
      const [conversation, notes, found, referral, firstMessageAt] = await Promise.all([
        presentOne(deps, member.workspaceId, decrypted),
        listNotes({ sql: db.sql, keyring, workspaceId: member.workspaceId }, row.id),
        phone === null ? null : findLead(member.workspaceId, phone),
        findReferral({ sql: db.sql, keyring, workspaceId: member.workspaceId }, row.id),
        findFirstMessageTime(db.sql, member.workspaceId, row.id),
      ])
      return {
        conversation,
        notes: await presentTeamNotes(deps, member.workspaceId, notes),
        lead: found && withoutNumbers(found),
        firstContactAt: earlier(decrypted.createdAt, firstMessageAt).toISOString(),
        referral,
      }
    },
  })
  api.get(`${conversationsPath}/:id/messages`, 'member', {
    operationId: 'listMessagesAsMember',
    summary: "List a conversation's messages",
    description: 'Returns the newest `limit` messages, oldest first. For older ones, repeat with `before`.',
    params: TeamConversationParams,
    query: MessagesQuery,
    answers: { 200: Type.Object({ messages: Type.Array(TeamMessage, page), hasMore: Type.Boolean() }) },
    allErrors: [400, 401, 404],
    run: async ({ member, params, query }) => {
      const { limit = 50, before } = query
      const issues: Issue[] = []
      const time = before === undefined ? null : parseTime('before', before, issues)
      if (issues.length > 0) throw new InvalidInput(issues, 'query')
      const keyring = await keyStore.keyring(member.workspaceId)
      const columns = teamMessageColumns(db.sql, member.workspaceId)
      const request = { before: time, limit, columns }
      const { messages, hasMore } = await readMessages({ sql: db.sql, keyring, ...scopeOf(member) }, params.id, request)
      const [names, details] = await Promise.all([
        readNames({ db, keyStore }, member.workspaceId, actorReferences(messages.map(({ actor }) => actor))),
        readDetails({ db, keyStore }, member.workspaceId, messages),
      ])
      return { messages: messages.map((each) => presentTeamMessage(each, names, details)), hasMore }
    },
  })
}

// The conversation is created with its first received message, but the phone's history can be older.
const earlier = (one: Date, other: Date | null): Date => (other !== null && other < one ? other : one)

const withoutNumbers = ({ numbers: _, ...card }: LeadSummary) => card
