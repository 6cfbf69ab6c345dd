import { Type } from 'typebox'
import { nullable, oneOf, timestamp, titled } from '../../base/route.ts'
import { cursor, text, uuid, visible } from '../../base/schema-types.ts'
import type { TeamApi } from '../../team/team-api.ts'
import { closed, idSchema } from '../../team/team-schema.ts'
import { leadsPath, leadUserOf, ofLead } from '../api/lead-request.ts'
import { addLeadNote } from '../lead/history.ts'
import { leadReader } from '../lead/identify.ts'
import { NoQuery } from '../lead/schema.ts'
import { entryKinds, type TimelineEntry, type TimelineFilter, timelineFilters } from './entries.ts'
import { readLeadTimeline, readTimelineCursor, type TimelineDeps } from './read-timeline.ts'

const value = (description: string) =>
  Type.Unsafe<string | number | boolean | null>({
    type: ['string', 'number', 'boolean', 'null'],
    maxLength: 200,
    minimum: -1e12,
    maximum: 1e12,
    description,
  })

const Actor = Type.Object({
  type: oneOf(['agent', 'user', 'token', 'form', 'system'], {
    description: 'An API key, a member, a team token, a lead form, or the service itself.',
  }),
  id: nullable(uuid('Null for `system`.')),
})

const FieldChange = titled('LeadFieldChange', {
  field: text(50, 'A field of the lead; `field:<key>` is one of its custom fields.', { example: 'priority' }),
  label: Type.Optional(text(200, 'What a custom field is called.', { example: 'City' })),
  from: value('Before; the first 200 characters.'),
  to: value('After.'),
})

const ToldMessage = titled('LeadTimelineMessage', {
  connectionId: idSchema('The number that it was sent to or from.'),
  direction: oneOf(['inbound', 'outbound'] as const, { description: 'Who said it.' }),
  kind: text(20, 'As in the messages.', { example: 'text' }),
  file: nullable(text(20, 'What kind of file it carries.', { example: 'image' })),
  status: text(20, 'How far it came.', { example: 'delivered' }),
})

const Answer = titled('LeadTimelineAnswer', {
  label: text(200, 'What was asked.', { example: 'City' }),
  value: Type.Unsafe<string | boolean>({
    type: ['string', 'boolean'],
    maxLength: 10_000,
    description: 'What was answered.',
  }),
})

const ToldMerge = titled('LeadTimelineMerge', {
  otherId: idSchema('The lead that was merged into this one. The id of the entry is that of the merge.'),
  otherName: nullable(text(600, 'What it is called; null when it is gone.', { example: 'Maria Silva' })),
  undoUntil: nullable(timestamp('Until when it can be undone; null when it cannot be.')),
  undone: nullable(Type.Object({ at: timestamp('When it was undone.'), actor: nullable(Actor) })),
})

export const LeadTimelineEntry = titled('LeadTimelineEntry', {
  id: idSchema('The entry.'),
  at: timestamp('When it happened.'),
  kind: oneOf(entryKinds, { description: 'What it tells of.' }),
  actor: nullable(Actor),
  partOf: nullable(
    text(
      60,
      'What a change was part of: `import:<id>`, `bulk:<id>` or `undo:<id>` of a bulk change, `merge:<id>` or `unmerge:<id>`.',
      {
        example: 'import:01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e',
      },
    ),
  ),
  changes: Type.Array(FieldChange, {
    maxItems: 40,
    description: 'Of `status` and `fields`; of `merged`, what the lead got from the other, for 30 days.',
  }),
  text: nullable(text(10_000, 'Of a message, its first 1,000 characters, and of a note.')),
  conversationId: nullable(idSchema('Where a message or a note stands; null for a note on the lead itself.')),
  message: nullable(ToldMessage),
  form: nullable(Type.Object({ id: idSchema('The form.'), name: text(200, 'Its name.', { example: 'Contact' }) })),
  answers: Type.Array(Answer, { maxItems: 100, description: 'Of a submission.' }),
  merge: nullable(ToldMerge),
})

const LeadTimeline = Type.Object({
  entries: Type.Array(LeadTimelineEntry, { maxItems: 50, description: 'Newest first.' }),
  nextCursor: nullable(cursor('For older ones; null where the timeline begins.')),
})

const LeadTimelineQuery = Type.Object(
  {
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: 30 })),
    cursor: Type.Optional(cursor('The `nextCursor` of a page.')),
    kind: Type.Optional(
      oneOf(Object.keys(timelineFilters) as TimelineFilter[], {
        description: 'Only what was said, noted, changed, or merged.',
      }),
    ),
  },
  closed,
)

export const maxNote = 10_000

export const NewLeadNote = Type.Object(
  { text: Type.String({ minLength: 1, maxLength: maxNote, pattern: visible, description: 'For the team alone.' }) },
  { ...closed, title: 'NewLeadNote' },
)

const LeadNoteHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      pattern: '^[\\x20-\\x7e]+$',
      description: 'A value of its own for each note, 1–255 printable ASCII characters: a repeat adds nothing.',
      example: 'note-A-17',
    }),
  ),
})

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

const present = (entry: TimelineEntry) => ({
  ...{ partOf: null, text: null, conversationId: null, message: null, form: null },
  ...entry,
  at: entry.at.toISOString(),
  changes: [...(entry.changes ?? [])],
  answers: [...(entry.answers ?? [])],
  merge: entry.merge === undefined ? null : presentMerge(entry.merge),
})

const presentMerge = ({ otherId, otherName, undoUntil, undone }: NonNullable<TimelineEntry['merge']>) => ({
  otherId,
  otherName,
  undoUntil: undoUntil?.toISOString() ?? null,
  undone: undone === null ? null : { at: undone.at.toISOString(), actor: undone.actor },
})
