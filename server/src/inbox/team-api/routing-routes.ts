import { type Static, Type } from 'typebox'
import { forbidden } from '../../base/errors.ts'
import { nullable, oneOf, titled } from '../../base/route.ts'
import { count } from '../../base/schema-types.ts'
import type { TeamApi } from '../../team/team-api.ts'
import { closed, idSchema } from '../../team/team-schema.ts'
import type { InboxDeps } from '../conversation/conversation.ts'
import { changeRoutingSettings, type RoutingPatch, readRoutingSettings } from '../routing/routing-settings.ts'
import { takeNext } from '../routing/take-next.ts'
import { TeamConversation } from './inbox-schema.ts'
import { conversationsPath, presentOne } from './present-conversation.ts'

const routingPath = '/api/team/v1/workspaces/:workspaceId/routing'

const ruleFields = {
  connectionId: nullable(idSchema('The connection; null for all without a rule of their own.')),
  agent: oneOf(['default', 'key', 'none'] as const, {
    description:
      'Which agent owns a new conversation. `default`: the oldest key that answers new ones. `key`: the key `keyId`. `none`: no agent. An agent that is at its capacity, stopped or not allowed on the connection gets none.',
    example: 'none',
  }),
  keyId: nullable(idSchema('With `agent` `key`: the API key.')),
  teamId: nullable(
    idSchema('Team that the conversation belongs to; its people answer it unless an agent does. Null: all people.'),
  ),
}
const RoutingRule = titled('RoutingRule', ruleFields)

const capacity = (maximum: number, description: string) =>
  Type.Integer({ minimum: 1, maximum, description, example: 10 })
const agentLimit = {
  keyId: idSchema('The API key.'),
  capacity: capacity(100_000, 'Open conversations that the agent has at most: it gets no new ones beyond.'),
}
const personLimit = {
  userId: idSchema('The member.'),
  capacity: capacity(1000, 'Open conversations that the person gets at most from teams.'),
}
const open = count('Open conversations now.', { example: 3 })
const maxItems = 1000

const Routing = titled('Routing', {
  rules: Type.Array(RoutingRule, {
    maxItems,
    description: 'Without any, the oldest key that answers new ones gets them.',
  }),
  agents: Type.Array(Type.Object({ ...agentLimit, open }), { maxItems, description: 'Agents with a limit.' }),
  people: Type.Array(Type.Object({ ...personLimit, open }), { maxItems, description: 'People with a limit.' }),
})

const RoutingChanges = Type.Partial(
  Type.Object({
    rules: Type.Array(Type.Object(ruleFields, closed), { maxItems }),
    agents: Type.Array(Type.Object(agentLimit, closed), { maxItems }),
    people: Type.Array(Type.Object(personLimit, closed), { maxItems }),
  }),
  {
    ...closed,
    minProperties: 1,
    example: { rules: [{ connectionId: null, agent: 'default', keyId: null, teamId: null }] },
  },
)
type RoutingChanges = Static<typeof RoutingChanges>

export function routingRoutes(api: TeamApi, deps: InboxDeps): void {
  api.get(routingPath, 'member', {
    operationId: 'getRouting',
    summary: 'Retrieve the routing rules',
    description: 'Who gets new conversations, and how many open ones agents and people have at most.',
    answers: { 200: Type.Object({ routing: Routing }) },
    allErrors: [400, 401, 404],
    run: async ({ member }) => ({ routing: await readRoutingSettings(deps.db.sql, member.workspaceId) }),
  })
  api.put(routingPath, 'admin', {
    operationId: 'updateRouting',
    summary: 'Change the routing rules',
    description:
      'For admins. Each list replaces the former one; a list that is left out stays. Conversations that exist do not change.',
    body: RoutingChanges,
    answers: { 200: Type.Object({ routing: Routing }) },
    run: async ({ member, body }) => {
      await changeRoutingSettings(deps, member, parseChanges(body))
      return { routing: await readRoutingSettings(deps.db.sql, member.workspaceId) }
    },
  })
  api.post(`${conversationsPath}/take-next`, 'member', {
    operationId: 'takeNextConversation',
    summary: 'Take the next conversation',
    description:
      'Assigns to the calling member the conversation whose customer has waited the longest, of those of people that nobody has: of the member’s teams, or of no team. Several members at once get different ones. Null: nobody waits. For signed-in members; tokens get 403.',
    answers: { 200: Type.Object({ conversation: Type.Union([TeamConversation, Type.Null()]) }) },
    errors: [413, 415],
    run: async ({ member }) => {
      const { workspaceId, userId } = member
      if (userId === null) throw forbidden('Tokens cannot take conversations. Sign in as a member.')
      const conversation = await takeNext(deps, workspaceId, userId)
      return { conversation: conversation && (await presentOne(deps, workspaceId, conversation)) }
    },
  })
}

const lower = (id: string | null): string | null => id?.toLowerCase() ?? null

function parseChanges({ rules, agents, people }: RoutingChanges): RoutingPatch {
  return {
    ...(rules && {
      rules: rules.map((rule) => ({
        agent: rule.agent,
        connectionId: lower(rule.connectionId),
        keyId: lower(rule.keyId),
        teamId: lower(rule.teamId),
      })),
    }),
    ...(agents && { agents: agents.map((one) => ({ ...one, keyId: one.keyId.toLowerCase() })) }),
    ...(people && { people: people.map((one) => ({ ...one, userId: one.userId.toLowerCase() })) }),
  }
}
