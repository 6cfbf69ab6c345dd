import { type Static, Type } from 'typebox'
import { maskNumbersIn } from '../../base/phone/mask.ts'
import { nullable, oneOf, timestamp } from '../../base/route.ts'
import { text } from '../../base/schema-types.ts'
import type { Handover } from '../../inbox/assignment/handovers.ts'
import type { ActivityDetail, ActivityReason } from '../../inbox/conversation/commit-change.ts'
import { urgencies } from '../../inbox/conversation/owner.ts'
import type { Note } from '../../inbox/notes/notes.ts'
import { actorReferences, type NameReference, type Names } from '../../inbox/read/names.ts'
import type { Actor } from '../../workspaces/actor.ts'
import { type AgentViewerContext, cleanedText } from './viewer.ts'

/** What the team and its agents say to each other about a conversation. */

export const maxSummary = 4000
export const maxReason = 1200

const writers = ['you', 'another_agent', 'people', 'system'] as const
const by = oneOf(writers, { description: 'Who wrote it.' })
const byName = Type.Optional(text(100, 'The name of that agent or member.'))

export const AgentNote = Type.Object(
  {
    at: timestamp('When.'),
    by,
    by_name: byName,
    text: text(10_000, 'Only the team and its agents see it. `by` says who wrote it, whatever it says itself.'),
  },
  { title: 'AgentNote' },
)

export const AgentHandover = Type.Object(
  {
    at: timestamp('When.'),
    by,
    by_name: byName,
    to: oneOf(['you', 'another_agent', 'people', 'any_agent'] as const, { description: 'Who was to go on.' }),
    urgency: oneOf(urgencies, { description: 'How soon.' }),
    summary: text(maxSummary, 'What has happened.'),
    reason: nullable(text(maxReason, 'Why it was handed on.')),
    next_step: nullable(text(maxReason, 'What is to be done.')),
  },
  { title: 'AgentHandover', description: 'What was said to whoever goes on with the conversation.' },
)

/** Whose names these show. */
export const namedIn = (notes: readonly Note[], handovers: readonly Handover[]): NameReference[] =>
  actorReferences([...notes, ...handovers].map(({ actor }) => actor))

export function presentNote({ text: words, actor, createdAt }: Note, viewer: AgentViewerContext, names: Names) {
  return {
    at: createdAt.toISOString(),
    ...presentWriter(actor, viewer, names),
    text: presentText(words, viewer),
  } satisfies Static<typeof AgentNote>
}

export function presentHandover(
  handover: Handover,
  viewer: AgentViewerContext,
  names: Names,
): Static<typeof AgentHandover> {
  const { to, urgency, summary, reason, nextStep, actor, createdAt } = handover
  return {
    at: createdAt.toISOString(),
    ...presentWriter(actor, viewer, names),
    to: to.type === 'agent' ? (to.keyId === viewer.keyId ? 'you' : 'another_agent') : targets[to.type],
    urgency,
    summary: presentText(summary, viewer),
    reason: reason === null ? null : presentText(reason, viewer),
    next_step: nextStep === null ? null : presentText(nextStep, viewer),
  }
}

const targets = { people: 'people', agents: 'any_agent' } as const

// Such words can repeat what a customer has written, and may name a number that the key is not to see.
// What is left out first could stand between the digits.
export function presentText(words: string, { masked }: Pick<AgentViewerContext, 'masked'>): string {
  const clean = cleanedText(words)
  return masked ? maskNumbersIn(clean) : clean
}

function presentWriter(actor: Actor, { keyId }: AgentViewerContext, names: Names) {
  const name = names(actor.type, actor.id)
  return { by: writerOf(actor, keyId), ...(name !== null && { by_name: name }) }
}

function writerOf({ type, id }: Actor, keyId: string): (typeof writers)[number] {
  if (type === 'agent') return id === keyId ? 'you' : 'another_agent'
  return type === 'user' || type === 'token' ? 'people' : 'system'
}

/** Why a conversation has its owner, in a sentence; by the last change of it. */
export function explainOwner(
  change: { detail: ActivityDetail; reason: ActivityReason | null; actor: Actor } | null,
  { keyId }: AgentViewerContext,
  names: Names,
): string {
  if (change === null || change.detail.kind !== 'owner') return 'It has had this owner since it began.'
  const { reason, actor } = change
  const why = explainChange(reason)
  if (why !== null) return why
  const actorName = writerOf(actor, keyId)
  const name = names(actor.type, actor.id)
  const named =
    actorName === 'you' ? 'You' : (name ?? (actorName === 'people' ? 'Somebody of the team' : 'Another agent'))
  return change.detail.to === 'human' ? `${named} gave it to people.` : `${named} gave it to its owner.`
}

/** What brought a change about that nobody asked for; null for what somebody did. */
export const explainChange = (reason: ActivityReason | null): string | null =>
  reason !== null && Object.hasOwn(reasons, reason) ? (reasons[reason] ?? null) : null

const reasons: Partial<Record<ActivityReason, string>> = {
  began: 'New conversations on this connection go to this owner.',
  sent: 'It changed hands with a message that was sent.',
  phone: 'Somebody of the team wrote from the phone.',
  watchdog: 'The agent did not answer in time (`answer_within_minutes` of who_am_i), so people got it.',
  agents_stopped: 'A member stopped all agents, so people got it.',
  key_ended: "The agent's key was revoked or expired, so people got it.",
  merged: 'The customer had two conversations that are one now, and people had the other.',
}
