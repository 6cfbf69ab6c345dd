import { Type } from 'typebox'
import { type ErasedKind, erasedKinds, type Removed } from '../base/erasure.ts'
import { notFound } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import { type App, nullable, oneOf, timestamp, titled } from '../base/route.ts'
import { countEvents } from '../events/erase.ts'
import { countConversationRows } from '../inbox/erase.ts'
import { recordAudit } from '../team/audit.ts'
import type { Member, TeamGuard } from '../team/member.ts'
import { teamApi } from '../team/team-api.ts'
import { closed, idSchema, workspaceParams } from '../team/team-schema.ts'
import {
  type CustomerName,
  type ErasureDeps,
  type ErasureRow,
  findErasure,
  findNamed,
  listErasures,
  namings,
  sealSubject,
} from './erasure.ts'
import { leaseMs, runErasure } from './run.ts'

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

const removedSchema = Type.Object(
  Object.fromEntries(
    erasedKinds.map((kind) => [
      kind,
      Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: kinds[kind] }),
    ]),
  ) as Record<ErasedKind, ReturnType<typeof Type.Integer>>,
  { title: 'ErasedCounts', description: 'How many of what.' },
)

const erasureSchema = titled('Erasure', {
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

const newErasureSchema = Type.Object(
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

function presentRemoved(removed: ErasureRow['removed']): Record<ErasedKind, number> {
  return Object.fromEntries(erasedKinds.map((kind) => [kind, removed[kind] ?? 0])) as Record<ErasedKind, number>
}

function presentErasure(row: ErasureRow) {
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

const path = '/api/team/v1/workspaces/:workspaceId/erasures'
const oneErasure = Type.Object({ erasure: erasureSchema })
/** A request waits so long for the end; a worker does the rest. */
const waitMs = 5_000

/** Erasing a customer from the workspace. */
export function erasureTeamRoutes(app: App, deps: ErasureDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Erasures')
  api.post(path, 'admin', {
    operationId: 'eraseCustomer',
    summary: 'Erase a customer',
    description:
      'For admins; it cannot be undone. Name the customer by one of phone, email, leadId and conversationId. Erases their leads, conversations, messages, notes, events, webhook deliveries and whatever else holds them in this workspace. Receivers of events get `lead.deleted` once more for each lead, with its id and nothing of the person. What the customer writes before their conversation is gone goes with it; what they write afterwards begins a new one. An answer with state `running` means that it goes on by itself: ask for the erasure again.',
    body: newErasureSchema,
    answers: {
      200: Type.Object({ found: removedSchema }, { description: 'With `dryRun`: what would be erased.' }),
      201: oneErasure,
    },
    errors: [422],
    run: async ({ member, body, reply }) => {
      const { dryRun, ...name } = body
      if (dryRun) {
        const found = await foreseeErasure(deps, member, name)
        return reply.code(200).send({ found: presentRemoved(found) })
      }
      const begun = await beginErasure(deps, member, name)
      const row = await runErasure(deps, member.workspaceId, begun.id, waitMs)
      return reply.code(201).send({ erasure: presentErasure(row ?? begun) })
    },
  })
  api.get(path, 'admin', {
    operationId: 'listErasures',
    summary: 'List erasures',
    description: 'For admins. The newest 50, with nothing of whom they were about.',
    answers: { 200: Type.Object({ erasures: Type.Array(erasureSchema, { maxItems: 50 }) }) },
    run: async ({ member }) => {
      const rows = await listErasures(deps.db.sql, member.workspaceId)
      return { erasures: rows.map(presentErasure) }
    },
  })
  api.get(`${path}/:erasureId`, 'admin', {
    operationId: 'getErasure',
    summary: 'Get an erasure',
    description: 'For admins. How far it is, and what it has removed.',
    params: Type.Object({ ...workspaceParams, erasureId: idSchema('The erasure.') }),
    answers: { 200: oneErasure },
    run: async ({ member, params }) => {
      const row = await findErasure(deps.db.sql, member.workspaceId, params.erasureId)
      if (row === undefined) throw notFound('Erasure not found')
      return { erasure: presentErasure(row) }
    },
  })
}

/** What would be erased of the customer, without the files of imports, which only an erasure looks through. */
async function foreseeErasure({ db, keyStore, clock }: ErasureDeps, by: Member, name: CustomerName): Promise<Removed> {
  const { workspaceId } = by
  return keyStore.withKeyring(workspaceId, async (keyring) => {
    const { customer, leads } = await findNamed(db.sql, keyring, by, name, clock.now())
    const { leadIds, conversationIds, mergedIds } = customer
    const [ofConversations, events] = await Promise.all([
      countConversationRows(db.sql, workspaceId, conversationIds),
      countEvents(db.sql, workspaceId, [...leadIds, ...conversationIds, ...mergedIds]),
    ])
    return { leads, ...ofConversations, events }
  })
}

/**
 * Writes down that the customer is to be erased: from then on it happens, whatever becomes of this process. Throws 400, 404
 * and 422 for a name that is none.
 */
export async function beginErasure(
  { db, keyStore, clock }: ErasureDeps,
  by: Member,
  name: CustomerName,
): Promise<ErasureRow> {
  const { workspaceId, actor } = by
  return keyStore.withKeyring(workspaceId, (keyring) =>
    db.tx(async (tx) => {
      const now = clock.now()
      const { customer, namedBy } = await findNamed(tx, keyring, by, name, now)
      const id = newId(now)
      // Whoever began it is at it; a worker steps in when they are not.
      const dueAt = new Date(now.getTime() + leaseMs)
      await tx`
        insert into erasures (workspace_id, id, state, named_by, subject, actor_type, actor_id, due_at, created_at)
        values (
          ${workspaceId}, ${id}, 'running', ${namedBy}, ${sealSubject(keyring, id, customer)}, ${actor.type}, ${actor.id},
          ${dueAt}, ${now}
        )`
      const entry = { scopeId: workspaceId, actor, action: 'customer.erasure_began', target: `erasure:${id}` }
      await recordAudit(tx, entry, now)
      const row = await findErasure(tx, workspaceId, id)
      if (row === undefined) throw new Error('A row was expected')
      return row
    }),
  )
}
