import { Type } from 'typebox'
import { type App, errors } from '../../base/route.ts'
import { memberOf, type TeamGuard } from '../../team/member.ts'
import { idSchema, teamRoute } from '../../team/team-schema.ts'
import { leadsPath, leadUserOf, ofLead } from '../api/team-request.ts'
import { leadReader } from '../lead/identify.ts'
import type { LeadDeps } from '../lead/lead.ts'
import { addLeadNote } from '../lead/notes.ts'
import { NoQuery } from '../lead/schema.ts'
import type { TimelineEntry, ToldMerge } from './entries.ts'
import { readLeadTimeline, readTimelineCursor, type TimelineDeps } from './read-timeline.ts'
import { LeadNoteHeaders, LeadTimeline, LeadTimelineQuery, NewLeadNote } from './schema.ts'

/** Everything that happened to a lead, and what the team writes down about it. */
export function timelineTeamRoutes(app: App, deps: TimelineDeps, guard: TeamGuard): void {
  serveTimeline(app, deps, guard)
  serveNewNote(app, deps, guard)
}

function serveTimeline(app: App, deps: TimelineDeps, guard: TeamGuard): void {
  app.route({
    method: 'GET',
    url: `${leadsPath}/:identifier/timeline`,
    onRequest: guard.member('member'),
    schema: {
      ...teamRoute('Team leads'),
      operationId: 'getLeadTimeline',
      summary: 'Read what happened to a lead',
      description:
        'Messages and notes of its conversations, notes on the lead, changes of its status and fields and who made them, leads that were merged into it, and what it sent by forms: in one order, newest first. Statuses are kept for good, changes of other fields for 30 days.',
      params: ofLead,
      querystring: LeadTimelineQuery,
      response: { 200: LeadTimeline, ...errors(400, 401, 403, 404) },
    },
    handler: async (request) => {
      const { limit = 30, cursor, kind = null } = request.query
      const before = cursor === undefined ? null : readTimelineCursor(cursor)
      const asked = { limit, before, filter: kind }
      const page = await readLeadTimeline(deps, leadUserOf(memberOf(request)), request.params.identifier, asked)
      return { entries: page.entries.map(present), nextCursor: page.nextCursor }
    },
  })
}

function serveNewNote(app: App, deps: LeadDeps, guard: TeamGuard): void {
  const readLead = leadReader(deps)
  app.route({
    method: 'POST',
    url: `${leadsPath}/:identifier/notes`,
    onRequest: guard.member('member'),
    schema: {
      ...teamRoute('Team leads'),
      operationId: 'createLeadNote',
      summary: 'Write a note on a lead',
      description:
        'It stands in the timeline of the lead, for the team alone. With an Idempotency-Key it is added once, however often the request is repeated.',
      params: ofLead,
      querystring: NoQuery,
      headers: LeadNoteHeaders,
      body: NewLeadNote,
      response: { 201: Type.Object({ id: idSchema('The note.') }), ...errors(400, 401, 403, 404, 413, 415) },
    },
    handler: async (request, reply) => {
      const member = memberOf(request)
      const user = leadUserOf(member)
      const { id: leadId } = await readLead(user, request.params.identifier)
      const key = request.headers['idempotency-key'] ?? null
      const id = await addLeadNote(deps, user.workspaceId, member.actor, { leadId, text: request.body.text, key })
      return reply.code(201).send({ id })
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
