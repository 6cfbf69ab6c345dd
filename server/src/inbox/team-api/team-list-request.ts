import { InvalidInput, type Issue } from '../../base/errors.ts'
import { readPhone } from '../../base/phone/phone.ts'
import type { Member } from '../../team/member.ts'
import { readOwnerFilter, readTime } from '../api/list-request.ts'
import type { InboxDeps } from '../conversation/conversation.ts'
import { type ConversationStatus, conversationStatuses } from '../conversation/conversation-state.ts'
import type { ListRequest } from '../read/list.ts'
import type { ConversationFilter, InboxView, NamedSearch } from '../read/list-filter.ts'
import { readNameTerm } from '../search/conversation-lines.ts'
import type { TeamListQuery } from './team-schema.ts'

// No row has it: who looks after nothing finds nothing.
const nobody = '00000000-0000-0000-0000-000000000000'

/** Reads the query of the team's list as this member means it; throws `InvalidInput` for what cannot be. */
export async function readTeamList(
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
