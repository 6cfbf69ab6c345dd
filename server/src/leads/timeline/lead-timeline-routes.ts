import { Type } from 'typebox'
import type { TeamApi } from '../../team/team-api.ts'
import { idSchema } from '../../team/team-schema.ts'
import { leadsPath, leadUserOf, ofLead } from '../api/lead-request.ts'
import { leadReader } from '../lead/identify.ts'
import { addLeadNote } from '../lead/notes.ts'
import { NoQuery } from '../lead/schema.ts'
import type { TimelineEntry, ToldMerge } from './entries.ts'
import { readLeadTimeline, readTimelineCursor, type TimelineDeps } from './read-timeline.ts'
import { LeadNoteHeaders, LeadTimeline, LeadTimelineQuery, NewLeadNote } from './schema.ts'

/** Everything that happened to a lead, and what the team writes down about it. */
export function timelineRoutes(api: TeamApi, deps: TimelineDeps): void {
  const readLead = leadReader(deps)
  api.get(`${leadsPath}/:identifier/timeline`, 'member', {
    operationId: 'getLeadTimeline',
    summary: 'Read what happened to a lead',
    description:
      'Messages and notes of its conversations, notes on the lead, changes of its status and fields and who made them, leads that were merged into it, and what it sent by forms: in one order, newest first. Statuses are kept for good, changes of other fields for 30 days.',
    params: ofLead,
    query: LeadTimelineQuery,
    answers: { 200: LeadTimeline },
    run: async ({ member, params, query }) => {
      const { limit = 30, cursor, kind = null } = query
      const before = cursor === undefined ? null : readTimelineCursor(cursor)
      const asked = { limit, before, filter: kind }
      const page = await readLeadTimeline(deps, leadUserOf(member), params.identifier, asked)
      return { entries: page.entries.map(present), nextCursor: page.nextCursor }
    },
  })
  api.post(`${leadsPath}/:identifier/notes`, 'member', {
    operationId: 'createLeadNote',
    summary: 'Write a note on a lead',
    description:
      'It stands in the timeline of the lead, for the team alone. With an Idempotency-Key it is added once, however often the request is repeated.',
    params: ofLead,
    query: NoQuery,
    headers: LeadNoteHeaders,
    body: NewLeadNote,
    answers: { 201: Type.Object({ id: idSchema('The note.') }) },
    run: async ({ member, params, body, headers }) => {
      const user = leadUserOf(member)
      const { id: leadId } = await readLead(user, params.identifier)
      const key = headers['idempotency-key'] ?? null
      const id = await addLeadNote(deps, user.workspaceId, member.actor, { leadId, text: body.text, key })
      return { id }
    },
  })
}

const present = ({
  id,
  at,
  kind,
  actor,
  partOf,
  changes,
  text,
  conversationId,
  message,
  form,
  answers,
  merge,
}: TimelineEntry) => ({
  id,
  at: at.toISOString(),
  kind,
  actor,
  partOf: partOf ?? null,
  changes: [...(changes ?? [])],
  text: text ?? null,
  conversationId: conversationId ?? null,
  message: message ?? null,
  form: form ?? null,
  answers: [...(answers ?? [])],
  merge: merge === undefined ? null : presentMerge(merge),
})

const presentMerge = ({ otherId, otherName, undoUntil, undone }: ToldMerge) => ({
  otherId,
  otherName,
  undoUntil: undoUntil?.toISOString() ?? null,
  undone: undone === null ? null : { at: undone.at.toISOString(), actor: undone.actor },
})
