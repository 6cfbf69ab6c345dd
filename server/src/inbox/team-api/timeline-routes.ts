import { type Static, Type } from 'typebox'
import { invalid } from '../../base/errors.ts'
import { nullable, oneOf, timestamp, titled } from '../../base/route.ts'
import { cursor, text, unpaged, uuid } from '../../base/schema-types.ts'
import { consentPurposes, consentSources } from '../../consents/consent.ts'
import type { TeamApi } from '../../team/team-api.ts'
import { idSchema } from '../../team/team-schema.ts'
import { described, strict } from '../api/schema.ts'
import type { Handover, HandoverTarget } from '../assignment/handovers.ts'
import { type Activity, type ActivityDetail, activityReasons } from '../conversation/commit-change.ts'
import type { InboxDeps, ReadDeps } from '../conversation/conversation.ts'
import { keyIdOf, parseOwner, writeOwner } from '../conversation/owner.ts'
import { actorReferences, type NameReference, type Names, readNames } from '../read/names.ts'
import { type MessageDetails, readDetails } from '../read/read-details.ts'
import { type TimelineItem as Item, parsePosition, readTimeline, type TimelineRequest } from '../read/timeline.ts'
import {
  maxReason,
  maxSummary,
  namedActor,
  TeamConversationParams,
  TeamMessage,
  TeamNote,
  urgency,
} from './inbox-schema.ts'
import {
  conversationsPath,
  presentTeamMessage,
  presentTeamNote,
  presentWithName,
  scopeOf,
} from './present-conversation.ts'

const name = (description: string, example: string) => nullable(text(100, description, { example }))
const labels = (description: string) => Type.Array(uuid(), { ...unpaged, description, example: [] })

const activityKinds = [
  ...(['owner', 'status', 'assignee', 'team', 'labels', 'priority', 'goal'] as const),
  ...(['consent', 'standby', 'over_budget', 'draft', 'task'] as const),
] as const

const TeamActivity = described('TeamActivity', 'Entry of the thread between the messages.', {
  id: idSchema('Activity id.'),
  kind: oneOf(activityKinds, {
    description:
      'What changed. `over_budget`: a person sent a message although a budget was used up. `goal`: a service-level goal was missed.',
  }),
  from: name(
    'Old value: an owner (`human` or `agent:<api_key_id>`), a status, a member, a team, a decision about marketing (`opted_in`, `opted_out`), the other app on the number that has the conversation, or with kind `draft` the agent that proposed it; null for none.',
    'human',
  ),
  fromName: name('Name of the agent, member or team in `from`.', 'Sales agent'),
  to: name(
    'New value, in the same form; with kind `draft` what a person did: `sent`, `edited`, `rejected`; with kind `task` what happened to one: `created`, `done`, `reopened`, `deleted`; with kind `goal` the missed goal.',
    'agent:01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e',
  ),
  toName: name('Name of the agent, member or team in `to`.', 'Ana Lima'),
  snoozedUntil: nullable(timestamp('With status `snoozed`: when a timer reopens it.')),
  added: labels('Added labels.'),
  removed: labels('Removed labels.'),
  source: nullable(oneOf(consentSources, { description: 'With kind `consent`: where it was decided.' })),
  purpose: nullable(oneOf(consentPurposes, { description: 'With kind `consent`: what it was about.' })),
  reason: Type.Unsafe<(typeof activityReasons)[number] | null>({
    type: ['string', 'null'],
    enum: [...activityReasons, null],
    description:
      '`began`: new conversation. `customer_wrote`: customer message. `sent`: message sent. `phone`: message from the phone. `timer`: the snooze ended. `watchdog`: the agent did not answer in time. `agents_stopped`: stop switch. `key_ended`: the key was revoked or expired. `merged`: two conversations of one customer were merged, and people had one of them. `round_robin`, `least_busy`: the rule of the team. `capacity`: the agent had its maximum. `no_answer`: the assignee did not answer in time. `took_next`: taken as the next one. Null: explicit request.',
    example: null,
  }),
  actor: namedActor,
  createdAt: timestamp('Time of the change.'),
})

const TeamHandover = described('TeamHandover', 'Handover of a conversation with its note.', {
  id: idSchema('Handover id.'),
  from: text(42, 'Previous owner: `human` or `agent:<api_key_id>`.', {
    example: 'agent:01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e',
  }),
  fromName: name('Name of the previous agent; null for people.', 'Sales agent'),
  to: oneOf(['people', 'agent', 'agents'] as const, { description: '`agents`: the first agent to take it.' }),
  toId: nullable(uuid('Target member or key; null for any.')),
  toName: name('Name of the target.', 'Ana Lima'),
  urgency: urgency,
  summary: text(maxSummary, 'What has happened so far.', { example: 'Wants the money back for order 1042.' }),
  reason: nullable(text(maxReason, 'Reason for the handover.', { example: 'Refunds need a person.' })),
  nextStep: nullable(text(maxReason, 'What to do next.', { example: 'Check the payment.' })),
  actor: namedActor,
  createdAt: timestamp('Time of the handover.'),
})

const TimelineItem = titled('TimelineItem', {
  type: oneOf(['message', 'note', 'activity', 'handover'] as const, { description: 'Type of the item.' }),
  id: idSchema('Id of the message, note, activity or handover.'),
  at: timestamp('Time of the item.'),
  message: Type.Optional(TeamMessage),
  note: Type.Optional(TeamNote),
  activity: Type.Optional(TeamActivity),
  handover: Type.Optional(TeamHandover),
})

const cursorOrNull = (description: string) => Type.Union([cursor(description), Type.Null()])

const Timeline = Type.Object({
  items: Type.Array(TimelineItem, { maxItems: 200, description: 'Oldest first.' }),
  older: cursorOrNull('Value for `before`; null at the beginning.'),
  newer: cursorOrNull('Value for `after`; null at the end.'),
  firstUnreadId: nullable(idSchema('Oldest unread message.')),
})

const TimelineQuery = strict({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
  before: Type.Optional(cursor('`older` of a page.')),
  after: Type.Optional(cursor('`newer` of a page.')),
  around: Type.Optional(
    oneOf(['unread'] as const, {
      description: 'Centers on the first unread message; shows the newest if all are read.',
    }),
  ),
  aroundMessage: Type.Optional(uuid('Centers on a message of this conversation, such as a quoted one, or on a note.')),
})
type TimelineQuery = Static<typeof TimelineQuery>

export function timelineRoutes(api: TeamApi, deps: InboxDeps): void {
  const { db, keyStore } = deps
  api.get(`${conversationsPath}/:id/timeline`, 'member', {
    operationId: 'getTimeline',
    summary: 'Get the timeline of a conversation',
    description:
      'Messages, notes, handovers and activities in chronological order: the newest `limit`, those before or after a page, or those around the first unread or any other message.',
    params: TeamConversationParams,
    query: TimelineQuery,
    answers: { 200: Timeline },
    allErrors: [400, 401, 404],
    run: async ({ member, params, query }) => {
      const request = parseRequest(query)
      const keyring = await keyStore.keyring(member.workspaceId)
      const page = await readTimeline({ sql: db.sql, keyring, ...scopeOf(member) }, params.id, request)
      return { ...page, items: await presentTimeline(deps, member.workspaceId, page.items) }
    },
  })
}

function parseRequest({ limit = 50, before, after, around, aroundMessage }: TimelineQuery): TimelineRequest {
  if ([before, after, around, aroundMessage].filter((one) => one !== undefined).length > 1) {
    throw invalid('before', 'cannot be combined with after, around or aroundMessage', 'query')
  }
  if (before !== undefined) return { limit, from: { side: 'before', position: parsePosition('before', before) } }
  if (after !== undefined) return { limit, from: { side: 'after', position: parsePosition('after', after) } }
  if (aroundMessage !== undefined) return { limit, from: { messageId: aroundMessage } }
  return { limit, from: around ?? null }
}

/** Presents items with the names of everyone involved, read in one lookup. */
async function presentTimeline(deps: ReadDeps, workspaceId: string, items: readonly Item[]) {
  const messages = items.flatMap((item) => (item.type === 'message' ? [item.message] : []))
  const [names, details] = await Promise.all([
    readNames(deps, workspaceId, items.flatMap(referencesIn)),
    readDetails(deps, workspaceId, messages),
  ])
  return items.map((item) => ({
    type: item.type,
    id: item.id,
    at: item.at.toISOString(),
    ...presentItem(item, names, details),
  }))
}

function referencesIn(item: Item): NameReference[] {
  if (item.type === 'message') return actorReferences([item.message.actor])
  if (item.type === 'note') return actorReferences([item.note.actor])
  if (item.type === 'handover') {
    const { from, to, actor } = item.handover
    return actorReferences([actor, { type: 'agent', id: keyIdOf(from) }, partyOfTarget(to)])
  }
  const { detail, actor } = item.activity
  return actorReferences([actor, partyOf(detail, 'from'), partyOf(detail, 'to')])
}

function presentItem(item: Item, names: Names, details: MessageDetails) {
  if (item.type === 'message') return { message: presentTeamMessage(item.message, names, details) }
  if (item.type === 'note') return { note: presentTeamNote(item.note, names) }
  if (item.type === 'handover') return { handover: presentHandover(item.handover, names) }
  return { activity: presentActivity(item.activity, names) }
}

function presentHandover({ id, from, to, urgency, actor, createdAt, ...words }: Handover, names: Names) {
  const party = partyOfTarget(to)
  return {
    id,
    from: writeOwner(from),
    fromName: names('agent', keyIdOf(from)),
    to: to.type,
    toId: party?.id ?? null,
    toName: party === null ? null : names(party.type, party.id),
    urgency,
    summary: words.summary,
    reason: words.reason,
    nextStep: words.nextStep,
    actor: presentWithName(actor, names),
    createdAt: createdAt.toISOString(),
  }
}

interface Party {
  type: 'agent' | 'user' | 'team'
  id: string | null
}

function partyOfTarget(to: HandoverTarget): Party | null {
  if (to.type === 'people') return { type: 'user', id: to.userId }
  return to.type === 'agent' ? { type: 'agent', id: to.keyId } : null
}

function presentActivity({ id, detail, reason, actor, createdAt }: Activity, names: Names) {
  const [from, to] = [partyOf(detail, 'from'), partyOf(detail, 'to')]
  return {
    id,
    kind: detail.kind,
    from: 'from' in detail ? detail.from : null,
    fromName: from === null ? null : names(from.type, from.id),
    to: detail.kind === 'goal' ? detail.goal : 'to' in detail ? detail.to : null,
    toName: to === null ? null : names(to.type, to.id),
    snoozedUntil: detail.kind === 'status' ? detail.snoozedUntil : null,
    added: detail.kind === 'labels' ? detail.added : [],
    removed: detail.kind === 'labels' ? detail.removed : [],
    source: detail.kind === 'consent' ? detail.source : null,
    purpose: detail.kind === 'consent' ? (detail.purpose ?? 'marketing') : null,
    reason,
    actor: presentWithName(actor, names),
    createdAt: createdAt.toISOString(),
  }
}

/** Returns the agent, member or team at one end of a change. */
function partyOf(detail: ActivityDetail, end: 'from' | 'to'): Party | null {
  if (detail.kind === 'assignee') return { type: 'user', id: detail[end] }
  if (detail.kind === 'team') return { type: 'team', id: detail[end] }
  if (detail.kind !== 'owner' && !(detail.kind === 'draft' && end === 'from')) return null
  const owner = parseOwner(detail[end])
  return owner === null ? null : { type: 'agent', id: keyIdOf(owner) }
}
