import { Type } from 'typebox'
import { InvalidInput, type Issue } from '../../base/errors.ts'
import { readPhone } from '../../base/phone/phone.ts'
import { timestamp } from '../../base/route.ts'
import { cursor, page } from '../../base/schema-types.ts'
import type { Member } from '../../team/member.ts'
import type { TeamApi } from '../../team/team-api.ts'
import { parseOwnerFilter, parseTime } from '../api/key-request.ts'
import { MessagesQuery } from '../api/schema.ts'
import type { InboxDeps, LeadSummary } from '../conversation/conversation.ts'
import { type ConversationStatus, conversationStatuses } from '../conversation/conversation-state.ts'
import { decryptConversation } from '../conversation/encrypted-conversation.ts'
import { conversationNotFound } from '../conversation/errors.ts'
import { findFirstMessageTime, findReferral } from '../conversation/message-queries.ts'
import { findConversation } from '../conversation/queries.ts'
import { listNotes } from '../notes/notes.ts'
import { countViews, maxCounted } from '../read/count-views.ts'
import { type ListRequest, listTeamConversations } from '../read/list.ts'
import type { ConversationFilter, InboxView, NamedSearch } from '../read/list-filter.ts'
import { actorReferences, readConversationViews, readNames } from '../read/names.ts'
import { readDetails } from '../read/read-details.ts'
import { readMessages, teamMessageColumns } from '../read/read-messages.ts'
import { parseNameTerm } from '../search/conversation-tokens.ts'
import { conversationsPath, inboxPath, presentOne, scopeOf } from './inbox-request.ts'
import {
  TeamConversation,
  TeamConversationParams,
  TeamCounts,
  TeamLead,
  TeamListQuery,
  TeamMessage,
  TeamNote,
} from './inbox-schema.ts'
import { presentTeamConversation, presentTeamMessage, presentTeamNotes } from './present-conversation.ts'

/** The list of conversations, and how many each view has. */
export function listRoutes(api: TeamApi, deps: InboxDeps): void {
  const { db, keyStore, clock } = deps
  api.get(conversationsPath, 'member', {
    operationId: 'listConversationsAsMember',
    summary: 'List conversations',
    description: 'Those written in last come first, unless `sort` says otherwise. Every filter narrows the list.',
    query: TeamListQuery,
    answers: {
      200: Type.Object({
        conversations: Type.Array(TeamConversation, page),
        cursor: Type.Union([cursor('For the next page.'), Type.Null()]),
      }),
    },
    allErrors: [400, 401, 404],
    run: async ({ member, query }) => {
      const asked = await parseTeamList(query, member, deps)
      const keyring = await keyStore.keyring(member.workspaceId)
      const page = await listTeamConversations(db.sql, keyring, scopeOf(member), asked)
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
    description: `The open ones, and those of them with unread messages, as of now; beyond ${maxCounted} nobody is counted.`,
    answers: { 200: Type.Object({ counts: TeamCounts }) },
    allErrors: [400, 401, 404],
    run: async ({ member }) => {
      const { workspaceId, userId } = member
      return { counts: await countViews(db.sql, workspaceId, userId) }
    },
  })
}

// No row has it: who looks after nothing finds nothing.
const nobody = '00000000-0000-0000-0000-000000000000'

/** Reads the query of the team's list as this member means it; throws `InvalidInput` for what cannot be. */
async function parseTeamList(
  query: TeamListQuery,
  member: Member,
  deps: Pick<InboxDeps, 'findLeadPhones'>,
): Promise<ListRequest> {
  const issues: Issue[] = []
  const filter: ConversationFilter = {
    connectionId: query.connectionId?.toLowerCase() ?? null,
    phone: query.phone ?? null,
    named: query.search === undefined ? null : await parseNameSearch(query.search, member, deps),
    owner: query.owner === undefined ? null : parseOwnerFilter(query.owner, issues),
    statuses: query.status === undefined ? null : parseStatuses(query.status, issues),
    updatedAfter: query.updatedAfter === undefined ? null : parseTime('updatedAfter', query.updatedAfter, issues),
    assignedTo: query.assignedTo === undefined ? null : parseAssignee(query.assignedTo, member),
    labelId: query.labelId ?? null,
    view: parseView(query.view, member),
    unreadOnly: query.unread ?? false,
    unansweredOnly: query.unanswered ?? false,
  }
  if (issues.length > 0) throw new InvalidInput(issues, 'query')
  return { filter, order: query.sort ?? 'recent', limit: query.limit ?? 30, cursor: query.cursor ?? null }
}

/** By what the row says, and by the names that leads have: of these only whoever keeps them knows. */
async function parseNameSearch(
  text: string,
  { workspaceId, workspace }: Member,
  { findLeadPhones }: Pick<InboxDeps, 'findLeadPhones'>,
): Promise<NamedSearch> {
  const digits = readPhone(text, workspace.defaultCountry ?? undefined)
  const phones = digits === null ? await findLeadPhones(workspaceId, text) : [digits]
  return { text, term: parseNameTerm(text), phones }
}

function parseStatuses(text: string, issues: Issue[]): ConversationStatus[] {
  const known = conversationStatuses.filter((status) => text.split(',').includes(status))
  const isKnown = (word: string) => known.some((status) => status === word)
  if (!text.split(',').every(isKnown)) {
    issues.push({ path: 'status', message: `must be some of ${conversationStatuses.join(', ')}, with commas between` })
  }
  return known
}

function parseAssignee(text: string, { userId }: Member): ConversationFilter['assignedTo'] {
  if (text === 'none') return 'nobody'
  return { userId: text === 'me' ? (userId ?? nobody) : text.toLowerCase() }
}

function parseView(view: TeamListQuery['view'], { userId }: Member): InboxView | null {
  if (view === undefined || view === 'all') return null
  return view === 'mine' ? { mine: userId ?? nobody } : view
}

const nullableLead = Type.Union([TeamLead, Type.Null()])

/** One conversation, and its messages. */
export function conversationRoutes(api: TeamApi, deps: InboxDeps): void {
  const { db, keyStore, findLead } = deps
  api.get(`${conversationsPath}/:id`, 'member', {
    operationId: 'getConversationAsMember',
    summary: 'Read a conversation',
    description:
      'With its newest 200 notes, oldest first, the lead with the phone of the customer, and the ad that they came by last.',
    params: TeamConversationParams,
    answers: {
      200: Type.Object({
        conversation: TeamConversation,
        notes: Type.Array(TeamNote, { maxItems: 200 }),
        lead: nullableLead,
        firstContactAt: timestamp('When it began: at its first message at the latest.'),
        referral: TeamMessage.properties.referral,
      }),
    },
    allErrors: [400, 401, 404],
    run: async ({ member, params }) => {
      const keyring = await keyStore.keyring(member.workspaceId)
      const row = await findConversation(db.sql, scopeOf(member), params.id)
      if (row === undefined) throw conversationNotFound()
      const opened = decryptConversation(keyring, row)
      const { phone } = opened.contact
      const [conversation, notes, found, referral, firstMessageAt] = await Promise.all([
        presentOne(deps, member.workspaceId, opened),
        listNotes({ sql: db.sql, keyring, workspaceId: member.workspaceId }, row.id),
        phone === null ? null : findLead(member.workspaceId, phone),
        findReferral({ sql: db.sql, keyring, workspaceId: member.workspaceId }, row.id),
        findFirstMessageTime(db.sql, member.workspaceId, row.id),
      ])
      return {
        conversation,
        notes: await presentTeamNotes(deps, member.workspaceId, notes),
        lead: found && withoutNumbers(found),
        firstContactAt: earlier(opened.createdAt, firstMessageAt).toISOString(),
        referral,
      }
    },
  })
  api.get(`${conversationsPath}/:id/messages`, 'member', {
    operationId: 'listMessagesAsMember',
    summary: "List a conversation's messages",
    description: 'The newest `limit`, oldest first. For older ones repeat with `before`.',
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
      const asked = { before: time, limit, columns }
      const { messages, hasMore } = await readMessages(db.sql, keyring, scopeOf(member), params.id, asked)
      const [names, details] = await Promise.all([
        readNames({ db, keyStore }, member.workspaceId, actorReferences(messages.map(({ actor }) => actor))),
        readDetails({ db, keyStore }, member.workspaceId, messages),
      ])
      return { messages: messages.map((each) => presentTeamMessage(each, names, details)), hasMore }
    },
  })
}

// It is made when its first message is taken in, and a phone's history reaches further back than that.
const earlier = (one: Date, other: Date | null): Date => (other !== null && other < one ? other : one)

const withoutNumbers = ({ numbers: _, ...card }: LeadSummary) => card
