import { type Static, Type } from 'typebox'
import { invalid } from '../../base/errors.ts'
import { oneOf } from '../../base/route.ts'
import { cursor, uuid } from '../../base/schema-types.ts'
import { conversationStatuses } from '../../inbox/conversation/conversation-state.ts'
import { listTeamConversations } from '../../inbox/read/list.ts'
import { type ConversationFilter, noFilter } from '../../inbox/read/list-filter.ts'
import { readNames } from '../../inbox/read/names.ts'
import { input, output } from '../schema.ts'
import { AgentConversation, namesOf, presentConversation, readLabelNames } from '../shown/conversation.ts'
import { shownConversation } from '../shown/examples.ts'
import { scopeOf, sightOf } from '../shown/sight.ts'
import { type AgentCaller, type AgentDeps, defineVerb, reads } from '../verb.ts'

const maxShown = 50

const Input = input({
  owner: Type.Optional(
    oneOf(['you', 'people', 'agents', 'anyone'] as const, { description: 'Whose they are. Default: `you`.' }),
  ),
  status: Type.Optional(oneOf(conversationStatuses)),
  waiting: Type.Optional(
    Type.Boolean({
      description: 'Only where the customer waits, longest first. Otherwise newest message first.',
    }),
  ),
  connection_id: Type.Optional(uuid()),
  label_id: Type.Optional(uuid()),
  phone: Type.Optional(
    Type.String({
      pattern: '^[0-9]{8,20}$',
      maxLength: 20,
      description: 'Exactly this customer: digits with country code.',
    }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: maxShown, description: 'Default 20.' })),
  cursor: Type.Optional(cursor('`next_cursor` of the page before; same filters.')),
})

export const listConversations = defineVerb({
  name: 'list_conversations',
  title: 'List conversations',
  description:
    'Lists conversations, at most 50 a page, with owner, labels, last message and whether the customer waits. For work call wait_for_work instead; for the messages read_conversation.',
  scopes: ['inbox.read'],
  http: { method: 'GET', path: '/conversations' },
  input: Input,
  output: output('ConversationsListed', {
    conversations: Type.Array(AgentConversation, { maxItems: maxShown }),
    next_cursor: Type.Union([cursor('For the next page.'), Type.Null()], { description: 'Null: that is all.' }),
  }),
  hints: reads,
  example: {
    input: { owner: 'you', waiting: true },
    output: {
      conversations: [shownConversation],
      next_cursor: null,
      next: ['Call read_conversation with the id of one of them.'],
    },
  },
  run: async (deps, caller, wanted) => {
    const { db } = deps.inbox
    const sight = await sightOf(deps, caller)
    const request = {
      filter: filterOf(wanted, caller),
      order: wanted.waiting === true ? ('waiting' as const) : ('recent' as const),
      limit: wanted.limit ?? 20,
      cursor: wanted.cursor ?? null,
    }
    const list = () => listTeamConversations(db.sql, sight.keyring, scopeOf(caller), request)
    const page = await (wanted.phone === undefined ? list() : guessing(deps, caller, list))
    const [names, labels] = await Promise.all([
      readNames(deps.inbox, caller.workspaceId, namesOf(page.conversations)),
      readLabelNames(db.sql, caller.workspaceId, page.conversations),
    ])
    return {
      conversations: page.conversations.map((one) => presentConversation(one, sight, names, labels)),
      next_cursor: page.cursor,
      next: nextSteps(page.conversations.length, page.cursor),
    }
  },
})

function filterOf(wanted: Static<typeof Input>, { keyId }: AgentCaller): ConversationFilter {
  const { owner = 'you', waiting = false, status, connection_id, label_id, phone } = wanted
  if (waiting && phone !== undefined) throw invalid('waiting', 'cannot go together with phone', 'query')
  const owners = { you: { keyId }, people: 'human', agents: 'agent', anyone: null } as const
  return {
    ...noFilter,
    // Who names the customer wants that one, whoever answers.
    owner: phone !== undefined && wanted.owner === undefined ? null : owners[owner],
    statuses: status === undefined ? null : [status],
    connectionId: connection_id?.toLowerCase() ?? null,
    labelId: label_id?.toLowerCase() ?? null,
    phone: phone ?? null,
  }
}

/** Of a key that sees phones masked it costs a guess when nobody has the number. */
async function guessing<P extends { conversations: unknown[] }>(
  { guesses }: AgentDeps,
  { keyId, phoneVisibility }: AgentCaller,
  list: () => Promise<P>,
): Promise<P> {
  if (phoneVisibility === 'full') return list()
  return guesses(keyId).spend(async (budget) => {
    if (budget.left() === 0) throw budget.refusal()
    const page = await list()
    if (page.conversations.length === 0) budget.note()
    return page
  })
}

function nextSteps(count: number, nextCursor: string | null): string[] {
  if (count === 0) return ['There is none. Call wait_for_work to be told when a customer writes to you.']
  return [
    'Call read_conversation with the id of one of them.',
    ...(nextCursor === null ? [] : ['Call list_conversations with next_cursor as cursor for more.']),
  ]
}
