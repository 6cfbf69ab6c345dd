import {
  type Activity,
  type Conversation,
  type Goal,
  type Handover,
  type Media,
  type Message,
  priorities,
} from '../../data/inbox/types.ts'
import { currentUser } from '../../session/session.ts'
import { stripMarkup } from '../../shared/markup/markup.ts'
import { t } from '../../text/index.ts'
import { formatPhone } from '../../ui/format/phone.ts'
import { formatDateTime, formatShortTime } from '../../ui/format/time.ts'
import { reasonFor } from './reason-for.ts'
import { parseSystemMessage } from './system-message.ts'

/** Returns the name of a customer, otherwise the number. */
export const customerName = ({ contact }: Pick<Conversation, 'contact'>): string =>
  contact.name ?? phoneLabel(contact.phone) ?? t.inbox.noName

export const phoneLabel = (phone: string | null): string | null => (phone === null ? null : formatPhone(phone))

export const snoozeText = (until: string | null): string =>
  until === null ? t.inbox.snoozedOpen : t.inbox.snoozedUntil({ moment: formatShortTime(until) })

/** Names a file by its kind and whose it is. */
export function mediaLabel({ kind }: Media, direction: Message['direction'], customer: string): string {
  const what = t.media.kinds[kind]
  return direction === 'inbound' ? t.media.from({ what, who: customer }) : t.media.fromUs({ what })
}

type MessageSummary = Pick<Message, 'kind' | 'text'>

function contentOf({ kind, text }: MessageSummary): string {
  if (kind === 'system') return parseSystemMessage(text).content
  return text === '' ? t.inbox.kinds[kind] : stripMarkup(text)
}

/** Returns the newest message in one line, with its author if it is ours. */
export function lastMessageLine({ lastMessage }: Conversation): string {
  if (lastMessage === null) return ''
  const { direction, author, kind, text } = lastMessage
  const content = contentOf({ kind: kind as Message['kind'], text }).replaceAll(/\s+/g, ' ')
  if (direction === 'inbound') return content
  if (author.type === 'agent') return t.inbox.aiMessage({ text: content })
  if (author.type === 'user' && author.id !== currentUser().id)
    return t.inbox.messageBy({ name: author.name ?? t.inbox.teammate, text: content })
  return t.inbox.ownMessage({ text: content })
}

/** Returns the author of a group of messages; null for the customer, whose side shows it. */
export function authorCaption({ type, name }: Message['author']): string | null {
  switch (type) {
    case 'customer':
      return null
    case 'agent':
      return name === null ? t.inbox.byAiOnly : t.inbox.byAi({ name })
    case 'user':
      return name ?? t.inbox.teammate
    case 'token':
      return name === null ? t.inbox.byTokenOnly : t.inbox.byToken({ name })
    case 'app':
      return t.inbox.fromApp
    case 'system':
      return t.inbox.bySystem
    default:
      return type satisfies never
  }
}

type Reason = Exclude<keyof typeof t.inbox.failures, 'code' | 'none'>

/** Error codes of each reason. */
const failureCodes: Record<Reason, readonly string[]> = {
  window: ['131047'],
  unreachable: ['131026'],
  limit: ['131049'],
  spam: ['131048'],
  stopped: ['131050'],
  rate: ['131056', '130429', '80007'],
  payment: ['131042'],
  account: ['131031', '368'],
  content: ['131008', '131009', '131051', '132000'],
  ownerChanged: ['owner_changed'],
  unknown: ['no_message_id'],
}

/** Explains why a message was not delivered. */
export function failureReason(code: string | null): string {
  const { failures } = t.inbox
  if (code === null) return failures.none
  const reason = reasonFor(failureCodes, code)
  return reason === undefined ? failures.code({ code }) : failures[reason]
}

/** Describes an activity in one line. */
export function activityLine(activity: Activity, labelName: (id: string) => string): string {
  const { activities } = t.inbox
  const who = activity.actor.name ?? (activity.actor.type === 'system' ? t.inbox.systemActor : t.inbox.teammate)
  if (activity.kind === 'owner') return ownerLine(activity, who)
  if (activity.kind === 'status') return statusLine(activity, who)
  if (activity.kind === 'assignee') {
    const routed = routedLine(activity)
    if (routed !== null) return routed
    if (activity.to === null) return activities.unassigned({ who })
    const isSelf = activity.to === activity.actor.id
    return isSelf
      ? activities.assignedSelf({ who })
      : activities.assigned({ who, to: activity.toName ?? t.inbox.teammate })
  }
  if (activity.kind === 'team') {
    const team = activity.toName ?? t.common.unknown
    if (activity.to === null) return activities.leftTeam({ team: activity.fromName ?? t.common.unknown })
    if (activity.reason === 'capacity') return activities.teamAsAgentFull({ team })
    return activity.actor.type === 'system' ? activities.routedToTeam({ team }) : activities.movedToTeam({ who, team })
  }
  if (activity.kind === 'consent') return consentLine(activity, who)
  if (activity.kind === 'standby') return activity.to === null ? activities.standbyEnded : activities.standbyBegan
  if (activity.kind === 'over_budget') return activities.overBudget({ who })
  if (activity.kind === 'draft') return draftLine(activity, who)
  if (activity.kind === 'task') return taskLine(activity, who)
  if (activity.kind === 'priority') return priorityLine(activity, who)
  if (activity.kind === 'goal') return activities.missedGoal({ goal: t.inbox.goals.names[activity.to as Goal['goal']] })
  const [added, removed] = [activity.added, activity.removed].map((ids) => ids.map(labelName).join(', '))
  if (activity.removed.length === 0) return activities.labelled({ who, labels: added ?? '' })
  if (activity.added.length === 0) return activities.unlabelled({ who, labels: removed ?? '' })
  return activities.relabelled({ who, added: added ?? '', removed: removed ?? '' })
}

function taskLine({ to }: Activity, who: string): string {
  const { tasks } = t.inbox.activities
  return tasks[to as keyof typeof tasks]({ who })
}

function priorityLine({ to }: Activity, who: string): string {
  const { activities } = t.inbox
  const priority = priorities.find((one) => one === to)
  if (priority === undefined) return activities.noPriority({ who })
  return activities.priority({ who, priority: t.inbox.priorities[priority] })
}

/** Describes an assignment by a rule; null for those that people made. */
function routedLine({ reason, to, toName, fromName }: Activity): string | null {
  const { activities } = t.inbox
  const names = { to: toName ?? t.inbox.teammate, from: fromName ?? t.inbox.teammate }
  if (reason === 'round_robin') return activities.assignedInTurn(names)
  if (reason === 'least_busy') return activities.assignedLeastBusy(names)
  if (reason === 'took_next') return activities.tookNext({ who: names.to })
  if (reason !== 'no_answer') return null
  return to === null ? activities.releasedNoAnswer(names) : activities.reassignedNoAnswer(names)
}

function draftLine({ to, fromName }: Activity, who: string): string {
  const { activities } = t.inbox
  const agent = fromName ?? t.compose.owner.unnamed
  if (to === 'rejected') return activities.rejectedDraft({ who, agent })
  return to === 'edited' ? activities.editedDraft({ who, agent }) : activities.approvedDraft({ who, agent })
}

function consentLine({ to, source, purpose }: Activity, who: string): string {
  const { activities } = t.inbox
  if (purpose === 'utility') {
    // Only people record it.
    if (to === null) return activities.undidUpdates({ who })
    return to === 'opted_out' ? activities.recordedUpdatesOut({ who }) : activities.recordedUpdatesIn({ who })
  }
  if (to === null) return activities.undidConsent({ who })
  const isRecorded = source === 'member' || source === 'agent'
  if (to === 'opted_out') return isRecorded ? activities.recordedOptOut({ who }) : activities.customerOptedOut
  return isRecorded ? activities.recordedOptIn({ who }) : activities.customerOptedIn
}

/** Describes a handover in one line. */
export function handoverLine({ actor, to, toName }: Pick<Handover, 'actor' | 'to' | 'toName'>): string {
  const { handover } = t.inbox
  const who = actor.name ?? t.inbox.teammate
  if (to === 'agents') return handover.offered({ who })
  if (toName !== null) return handover.toOne({ who, to: toName })
  return to === 'people' ? handover.toTeam({ who }) : handover.toOne({ who, to: t.inbox.views.agents })
}

function ownerLine({ to, toName, fromName: from, reason, actor }: Activity, who: string): string {
  const { activities } = t.inbox
  const agent = toName ?? from ?? t.inbox.views.agents
  if (to !== 'human') {
    const isAutomatic = actor.type === 'system' || actor.type === 'agent'
    return isAutomatic ? activities.assignedToAgent({ agent }) : activities.handedToAgent({ who, agent })
  }
  if (reason === 'sent')
    return from === null ? activities.repliedAndTookOver({ who }) : activities.repliedAndTookOverFrom({ who, from })
  if (reason === 'phone') return activities.repliedFromPhone
  if (reason === 'watchdog') return activities.watchdog({ agent })
  if (reason === 'agents_stopped') return activities.stopped
  if (reason === 'key_ended') return activities.keyInvalid({ agent })
  if (reason === 'merged') return activities.merged({ agent })
  if (actor.type === 'agent') return activities.handedOver({ who })
  if (actor.type === 'system') return activities.assignedToTeam
  return from === null ? activities.tookOver({ who }) : activities.tookOverFrom({ who, from })
}

function statusLine({ to, reason, snoozedUntil }: Activity, who: string): string {
  const { activities } = t.inbox
  if (to === 'resolved') return activities.resolved({ who })
  if (to === 'closed') return activities.closed({ who })
  if (to === 'pending') return activities.pending({ who })
  if (to === 'snoozed') {
    return snoozedUntil === null
      ? activities.snoozedOpen({ who })
      : activities.snoozed({ who, until: formatDateTime(snoozedUntil) })
  }
  if (reason === 'customer_wrote') return activities.customerOpened
  return reason === 'timer' ? activities.snoozeEnded : activities.opened({ who })
}
