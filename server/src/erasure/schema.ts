import { Type } from 'typebox'
import { type ErasedKind, erasedKinds } from '../base/erasure.ts'
import { nullable, oneOf, timestamp, titled } from '../base/route.ts'
import { closed, idSchema } from '../team/team-schema.ts'
import { type ErasureRow, namings } from './erasure.ts'

const kinds: Record<ErasedKind, string> = {
  leads: 'Leads, deleted ones included, with their search tokens.',
  statusChanges: 'Lines of the history of leads.',
  submissions: 'Notes of forms that were filled.',
  conversations: 'Conversations, on any connection.',
  messages: 'Messages, either way.',
  files: 'Pictures, recordings and documents of messages.',
  notes: 'Internal notes, with their mentions.',
  activities: 'Lines that conversations show of changes.',
  handovers: 'What was said when a conversation was handed on.',
  sends: 'Records of sends, by Idempotency-Key.',
  events: 'Events of the feed.',
  deliveries: 'Webhook deliveries, made or not, with the answers of receivers.',
  sessionRows: 'Rows that QR sessions keep of the customer.',
  importFiles: 'Stored files of imports that named the customer, erased whole.',
  savedFilters: 'Saved filters that looked for the customer.',
}

export const removedSchema = Type.Object(
  Object.fromEntries(
    erasedKinds.map((kind) => [
      kind,
      Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: kinds[kind] }),
    ]),
  ) as Record<ErasedKind, ReturnType<typeof Type.Integer>>,
  { title: 'ErasedCounts', description: 'How many of what.' },
)

export const erasureSchema = titled('Erasure', {
  id: idSchema('The erasure.'),
  state: oneOf(['running', 'done'], {
    description: '`running` goes on by itself, also after a restart; `done`: nothing is left.',
    example: 'done',
  }),
  namedBy: oneOf(namings, { description: 'What the customer was named by. The value is not kept.', example: 'phone' }),
  removed: removedSchema,
  startedBy: Type.Object({
    type: oneOf(['user', 'token'], { description: 'A member, or a team token.' }),
    id: idSchema('The member or the token.'),
  }),
  createdAt: timestamp('When it began: what was there by then is erased.'),
  finishedAt: nullable(timestamp('When it was done; null while it runs.')),
})

export const newErasureSchema = Type.Object(
  {
    phone: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'A phone with its country code, in any of its common variants.',
        example: '5581991234567',
      }),
    ),
    email: Type.Optional(
      Type.String({ minLength: 3, maxLength: 254, description: 'An e-mail address, whatever its case.' }),
    ),
    leadId: Type.Optional(idSchema('A lead, deleted or not. Its phone and its e-mail name the customer, too.')),
    conversationId: Type.Optional(idSchema('A conversation. Its phone and its platform id name the customer, too.')),
    dryRun: Type.Optional(
      Type.Boolean({ description: 'Answers 200 with what would be erased, and erases nothing.', example: false }),
    ),
  },
  closed,
)

export function presentRemoved(removed: ErasureRow['removed']): Record<ErasedKind, number> {
  return Object.fromEntries(erasedKinds.map((kind) => [kind, removed[kind] ?? 0])) as Record<ErasedKind, number>
}

export function presentErasure(row: ErasureRow) {
  return {
    id: row.id,
    state: row.state,
    namedBy: row.named_by,
    removed: presentRemoved(row.removed),
    startedBy: { type: row.actor_type, id: row.actor_id },
    createdAt: row.created_at.toISOString(),
    finishedAt: row.finished_at?.toISOString() ?? null,
  }
}
