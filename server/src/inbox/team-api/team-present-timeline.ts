import type { Activity, ActivityDetail } from '../conversation/activity.ts'
import type { InboxDeps } from '../conversation/conversation.ts'
import { keyIdOf, readOwner, writeOwner } from '../conversation/owner.ts'
import type { Handover, HandoverTarget } from '../ownership/handovers.ts'
import { type Named, type Names, namedActors, readNames } from '../read/names.ts'
import { type Details, readDetails } from '../read/read-details.ts'
import type { TimelineItem } from '../read/timeline.ts'
import { named, presentTeamMessage, presentTeamNote } from './team-present.ts'

/** The items with the names of all whom they tell of, in one look-up. */
export async function presentTimeline(
  deps: Pick<InboxDeps, 'db' | 'vault'>,
  workspaceId: string,
  items: readonly TimelineItem[],
) {
  const messages = items.flatMap((item) => (item.type === 'message' ? [item.message] : []))
  const [names, details] = await Promise.all([
    readNames(deps, workspaceId, items.flatMap(namedIn)),
    readDetails(deps, workspaceId, messages),
  ])
  return items.map((item) => ({
    type: item.type,
    id: item.id,
    at: item.at.toISOString(),
    ...presentItem(item, names, details),
  }))
}

function namedIn(item: TimelineItem): Named[] {
  if (item.type === 'message') return namedActors([item.message.actor])
  if (item.type === 'note') return namedActors([item.note.actor])
  if (item.type === 'handover') {
    const { from, to, actor } = item.handover
    return namedActors([actor, { type: 'agent', id: keyIdOf(from) }, partyOfTarget(to)])
  }
  const { detail, actor } = item.activity
  return namedActors([actor, partyOf(detail, 'from'), partyOf(detail, 'to')])
}

function presentItem(item: TimelineItem, names: Names, details: Details) {
  if (item.type === 'message') return { message: presentTeamMessage(item.message, names, details) }
  if (item.type === 'note') return { note: presentTeamNote(item.note, names) }
  if (item.type === 'handover') return { handover: presentHandover(item.handover, names) }
  return { activity: presentActivity(item.activity, names) }
}

export function presentHandover({ id, from, to, urgency, actor, createdAt, ...words }: Handover, names: Names) {
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
    actor: named(actor, names),
    createdAt: createdAt.toISOString(),
  }
}

function partyOfTarget(to: HandoverTarget): { type: 'agent' | 'user'; id: string | null } | null {
  if (to.type === 'people') return { type: 'user', id: to.userId }
  return to.type === 'agent' ? { type: 'agent', id: to.keyId } : null
}

function presentActivity({ id, detail, reason, actor, createdAt }: Activity, names: Names) {
  const [from, to] = [partyOf(detail, 'from'), partyOf(detail, 'to')]
  return {
    id,
    kind: detail.kind,
    from: detail.kind === 'labels' ? null : detail.from,
    fromName: from === null ? null : names(from.type, from.id),
    to: detail.kind === 'labels' ? null : detail.to,
    toName: to === null ? null : names(to.type, to.id),
    snoozedUntil: detail.kind === 'status' ? detail.snoozedUntil : null,
    added: detail.kind === 'labels' ? detail.added : [],
    removed: detail.kind === 'labels' ? detail.removed : [],
    reason,
    actor: named(actor, names),
    createdAt: createdAt.toISOString(),
  }
}

/** The agent or member that a change went from or to. */
function partyOf(detail: ActivityDetail, end: 'from' | 'to'): { type: 'agent' | 'user'; id: string | null } | null {
  if (detail.kind === 'assignee') return { type: 'user', id: detail[end] }
  if (detail.kind !== 'owner') return null
  const owner = readOwner(detail[end])
  return owner === null ? null : { type: 'agent', id: keyIdOf(owner) }
}
