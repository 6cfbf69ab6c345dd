import { Type } from 'typebox'
import { nullable, oneOf, timestamp, titled } from '../../base/route.ts'
import { cursor, text, visiblePattern } from '../../base/schema-types.ts'
import type { TeamApi } from '../../team/team-api.ts'
import { closed, idSchema } from '../../team/team-schema.ts'
import { actorSchema, leadPathParams, leadsPath, leadUserOfMember, ofLead } from '../api/lead-request.ts'
import { makeLeadReader } from '../lead/find-lead.ts'
import { addLeadNote } from '../lead/history.ts'
import { entryKinds, type TimelineEntry, type TimelineFilter, timelineFilters } from './entries.ts'
import { parseTimelineCursor, readLeadTimeline, type TimelineDeps } from './read-timeline.ts'

const value = (description: string) =>
  Type.Unsafe<string | number | boolean | null>({
    type: ['string', 'number', 'boolean', 'null'],
    maxLength: 200,
    minimum: -1e12,
    maximum: 1e12,
    description,
  })

const FieldChange = titled('LeadFieldChange', {
  field: text(50, 'A field of the lead; `field:<key>` is one of its custom fields.', { example: 'priority' }),
  label: Type.Optional(text(200, 'Label of a custom field.', { example: 'City' })),
  from: value('The former value, up to 200 characters.'),
  to: value('The new value, up to 200 characters.'),
})

const MessageSchema = titled('LeadTimelineMessage', {
  connectionId: idSchema('The connection of the message.'),
  direction: oneOf(['inbound', 'outbound'] as const, { description: 'Direction of the message.' }),
  kind: text(20, 'Kind of message.', { example: 'text' }),
  file: nullable(text(20, 'Kind of the attached file.', { example: 'image' })),
  status: text(20, 'Delivery status.', { example: 'delivered' }),
})

const AnswerSchema = titled('LeadTimelineAnswer', {
  label: text(200, 'Label of the form field.', { example: 'City' }),
  value: Type.Unsafe<string | boolean>({
    type: ['string', 'boolean'],
    maxLength: 10_000,
    description: 'The answer.',
  }),
})

const MergeSchema = titled('LeadTimelineMerge', {
  otherId: idSchema('The lead that was merged into this one. The id of the entry is that of the merge.'),
  otherName: nullable(text(600, 'Name of that lead; null if it was purged or erased.', { example: 'Maria Silva' })),
  undoUntil: nullable(timestamp('Until when it can be undone; null if it cannot.')),
  undone: nullable(Type.Object({ at: timestamp('When it was undone.'), actor: nullable(actorSchema) })),
})

export const LeadTimelineEntry = titled('LeadTimelineEntry', {
  id: idSchema('The entry.'),
  at: timestamp('When it happened.'),
  kind: oneOf(entryKinds, { description: 'Kind of entry.' }),
  actor: nullable(actorSchema),
  partOf: nullable(
    text(
      60,
      'The operation that a change belongs to: `import:<id>`, `bulk:<id>` or `undo:<id>` of a bulk change, `merge:<id>` or `unmerge:<id>`.',
      {
        example: 'import:01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e',
      },
    ),
  ),
  changes: Type.Array(FieldChange, {
    maxItems: 40,
    description:
      'For `status` and `fields`; for `merged`, the values that came from the other lead, available for 30 days.',
  }),
  text: nullable(text(10_000, 'Text of a message, up to 1,000 characters, or of a note; title of a task.')),
  conversationId: nullable(idSchema('The conversation of a message or note; null for a note on the lead itself.')),
  message: nullable(MessageSchema),
  form: nullable(Type.Object({ id: idSchema('The form.'), name: text(200, 'Its name.', { example: 'Contact' }) })),
  answers: Type.Array(AnswerSchema, { maxItems: 100, description: 'For a submission.' }),
  merge: nullable(MergeSchema),
  task: nullable(
    titled('LeadTimelineTask', {
      dueAt: timestamp('When it is due.'),
      doneAt: nullable(timestamp('When it was completed; null: it is open.')),
    }),
  ),
})

const LeadTimeline = Type.Object({
  entries: Type.Array(LeadTimelineEntry, { maxItems: 50, description: 'Newest first.' }),
  nextCursor: nullable(cursor('Cursor for older entries; null at the end.')),
})

const LeadTimelineQuery = Type.Object(
  {
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: 30 })),
    cursor: Type.Optional(cursor('The `nextCursor` of a page.')),
    kind: Type.Optional(
      oneOf(Object.keys(timelineFilters) as TimelineFilter[], {
        description: 'Only entries of this group.',
      }),
    ),
  },
  closed,
)

export const maxNote = 10_000

export const NewLeadNote = Type.Object(
  {
    text: Type.String({
      minLength: 1,
      maxLength: maxNote,
      pattern: visiblePattern,
      description: 'Visible to the team only.',
    }),
  },
  { ...closed, title: 'NewLeadNote' },
)

const LeadNoteHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      pattern: '^[\\x20-\\x7e]+$',
      description: 'Unique per note, 1–255 printable ASCII characters. A repeated request adds nothing.',
      example: 'note-A-17',
    }),
  ),
})

export function timelineRoutes(api: TeamApi, deps: TimelineDeps): void {
  const readLead = makeLeadReader(deps)
  api.get(`${leadsPath}/:identifier/timeline`, 'member', {
    operationId: 'getLeadTimeline',
    summary: 'Read the timeline of a lead',
    description:
      'Messages and notes of its conversations, notes on the lead, status and field changes with their authors, merges into it, its form submissions and tasks, newest first. Status changes are kept permanently, changes of other fields for 30 days.',
    params: leadPathParams,
    query: LeadTimelineQuery,
    answers: { 200: LeadTimeline },
    run: async ({ member, params, query }) => {
      const { limit = 30, cursor, kind = null } = query
      const before = cursor === undefined ? null : parseTimelineCursor(cursor)
      const request = { limit, before, filter: kind }
      const page = await readLeadTimeline(deps, leadUserOfMember(member), params.identifier, request)
      return { entries: page.entries.map(present), nextCursor: page.nextCursor }
    },
  })
  api.post(`${leadsPath}/:identifier/notes`, 'member', {
    operationId: 'createLeadNote',
    summary: 'Write a note on a lead',
    description:
      'Adds it to the timeline of the lead, visible to the team only. With an Idempotency-Key, repeated requests add it once.',
    ...ofLead,
    headers: LeadNoteHeaders,
    body: NewLeadNote,
    answers: { 201: Type.Object({ id: idSchema('The note.') }) },
    run: async ({ member, params, body, headers }) => {
      const user = leadUserOfMember(member)
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
  task:
    entry.task === undefined
      ? null
      : { dueAt: entry.task.dueAt.toISOString(), doneAt: entry.task.doneAt?.toISOString() ?? null },
})

const presentMerge = ({ otherId, otherName, undoUntil, undone }: NonNullable<TimelineEntry['merge']>) => ({
  otherId,
  otherName,
  undoUntil: undoUntil?.toISOString() ?? null,
  undone: undone === null ? null : { at: undone.at.toISOString(), actor: undone.actor },
})
