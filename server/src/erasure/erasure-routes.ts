import { Type } from 'typebox'
import { type ErasedKind, erasedKinds, type RemovedCounts } from '../base/erasure.ts'
import { notFound } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import { type App, nullable, oneOf, timestamp, titled } from '../base/route.ts'
import { countEvents } from '../events/erase.ts'
import { countConversationRows } from '../inbox/erase.ts'
import { recordAudit } from '../team/audit.ts'
import type { Member, TeamGuard } from '../team/member.ts'
import { teamApi } from '../team/team-api.ts'
import { closed, idSchema, workspaceParams } from '../team/team-schema.ts'
import type { CustomerIdentifier, ErasureDeps, ErasureRow } from './erasure.ts'
import { encryptSubject, findErasure, findIdentifiedCustomer, identifierKinds, listErasures } from './erasure.ts'
import { leaseMs, runErasure } from './run.ts'

const kinds: Record<ErasedKind, string> = {
  leads: 'Leads, including deleted ones, with their search tokens.',
  statusChanges: 'Status changes in the history of leads.',
  submissions: 'Form submissions.',
  conversations: 'Conversations on any connection.',
  messages: 'Messages in both directions.',
  files: 'Images, recordings and documents of messages.',
  notes: 'Internal notes, with their mentions.',
  activities: 'Records of changes shown in conversations.',
  handovers: 'Texts of handovers and transfers.',
  sends: 'Send idempotency records.',
  events: 'Events in the feed.',
  deliveries: 'Webhook deliveries, sent or pending, with the responses of receivers.',
  sessionRows: 'Rows about the customer in QR sessions.',
  importFiles: 'Stored import files that contained the customer, erased as a whole.',
  savedFilters: 'Saved filters that searched for the customer.',
  templateDrafts: 'Drafts of message templates that mentioned the customer.',
  knowledgeDrafts: 'Unpublished articles made of the customer’s conversations.',
  consents: 'Decisions about marketing messages.',
}

const removedSchema = Type.Object(
  Object.fromEntries(
    erasedKinds.map((kind) => [
      kind,
      Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: kinds[kind] }),
    ]),
  ) as Record<ErasedKind, ReturnType<typeof Type.Integer>>,
  { title: 'ErasedCounts', description: 'Number of erased records by kind.' },
)

const erasureSchema = titled('Erasure', {
  id: idSchema('The erasure.'),
  state: oneOf(['running', 'done'], {
    description: '`running`: continues automatically, also after a restart. `done`: everything is erased.',
    example: 'done',
  }),
  namedBy: oneOf(identifierKinds, {
    description: 'How the customer was identified. The value is not stored.',
    example: 'phone',
  }),
  removed: removedSchema,
  startedBy: Type.Object({
    type: oneOf(['user', 'token'], { description: 'Member or team token.' }),
    id: idSchema('The member or the token.'),
  }),
  createdAt: timestamp('Start time. Data from before it is erased.'),
  finishedAt: nullable(timestamp('Time of completion; null while it runs.')),
})

const newErasureSchema = Type.Object(
  {
    phone: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'Phone number with country code, in any common variant.',
        example: '5581991234567',
      }),
    ),
    email: Type.Optional(Type.String({ minLength: 3, maxLength: 254, description: 'E-mail address, ignoring case.' })),
    leadId: Type.Optional(idSchema('A lead, deleted or not. Its phone and e-mail also identify the customer.')),
    conversationId: Type.Optional(idSchema('A conversation. Its phone and platform id also identify the customer.')),
    dryRun: Type.Optional(
      Type.Boolean({ description: 'Returns 200 with what would be erased, without erasing it.', example: false }),
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
/** How long a request waits for completion; after that a worker continues. */
const waitMs = 5_000

export function erasureTeamRoutes(app: App, deps: ErasureDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Erasures')
  api.post(path, 'admin', {
    operationId: 'eraseCustomer',
    summary: 'Erase a customer',
    description:
      'For admins. Cannot be undone. Identify the customer by one of phone, email, leadId and conversationId. Erases their leads, conversations, messages, notes, events, webhook deliveries and all other data about them in this workspace. Receivers of events get `lead.deleted` again for each lead, with its id and no personal data. Messages that arrive before the conversation is erased are erased with it; later ones start a new conversation. While the state is `running` the erasure continues automatically: poll it.',
    body: newErasureSchema,
    answers: {
      200: Type.Object({ found: removedSchema }, { description: 'With `dryRun`: what would be erased.' }),
      201: oneErasure,
    },
    errors: [422],
    run: async ({ member, body, reply }) => {
      const { dryRun, ...name } = body
      if (dryRun) {
        const found = await previewErasure(deps, member, name)
        return reply.code(200).send({ found: presentRemoved(found) })
      }
      const started = await startErasure(deps, member, name)
      const row = await runErasure(deps, member.workspaceId, started.id, waitMs)
      return reply.code(201).send({ erasure: presentErasure(row ?? started) })
    },
  })
  api.get(path, 'admin', {
    operationId: 'listErasures',
    summary: 'List erasures',
    description: 'For admins. The newest 50, without data about the erased customers.',
    answers: { 200: Type.Object({ erasures: Type.Array(erasureSchema, { maxItems: 50 }) }) },
    run: async ({ member }) => {
      const rows = await listErasures(deps.db.sql, member.workspaceId)
      return { erasures: rows.map(presentErasure) }
    },
  })
  api.get(`${path}/:erasureId`, 'admin', {
    operationId: 'getErasure',
    summary: 'Get an erasure',
    description: 'For admins. Returns its state and what it has removed.',
    params: Type.Object({ ...workspaceParams, erasureId: idSchema('The erasure.') }),
    answers: { 200: oneErasure },
    run: async ({ member, params }) => {
      const row = await findErasure(deps.db.sql, member.workspaceId, params.erasureId)
      if (row === undefined) throw notFound('Erasure not found')
      return { erasure: presentErasure(row) }
    },
  })
}

/** Counts what would be erased, except import files, which only an erasure searches. */
async function previewErasure(
  { db, keyStore, clock }: ErasureDeps,
  by: Member,
  name: CustomerIdentifier,
): Promise<RemovedCounts> {
  const { workspaceId } = by
  return keyStore.withKeyring(workspaceId, async (keyring) => {
    const search = { sql: db.sql, keyring, workspaceId, before: clock.now() }
    const { customer, leads } = await findIdentifiedCustomer(search, name, by.workspace.defaultCountry)
    const { leadIds, conversationIds, mergedIds } = customer
    const [ofConversations, events] = await Promise.all([
      countConversationRows(db.sql, workspaceId, conversationIds),
      countEvents(db.sql, workspaceId, [...leadIds, ...conversationIds, ...mergedIds]),
    ])
    return { leads, ...ofConversations, events }
  })
}

/**
 * Stores the request to erase the customer; from then on a worker completes it even if this process dies. Throws 400,
 * 404 and 422 if the customer cannot be identified.
 */
export async function startErasure(
  { db, keyStore, clock }: ErasureDeps,
  by: Member,
  name: CustomerIdentifier,
): Promise<ErasureRow> {
  const { workspaceId, actor } = by
  return keyStore.withKeyring(workspaceId, (keyring) =>
    db.tx(async (tx) => {
      const now = clock.now()
      const search = { sql: tx, keyring, workspaceId, before: now }
      const { customer, namedBy } = await findIdentifiedCustomer(search, name, by.workspace.defaultCountry)
      const id = newId(now)
      // This process has the lease first; a worker takes over when it expires.
      const dueAt = new Date(now.getTime() + leaseMs)
      const [row] = await tx<ErasureRow[]>`
        insert into erasures (workspace_id, id, state, named_by, subject, actor_type, actor_id, due_at, created_at)
        values (
          ${workspaceId}, ${id}, 'running', ${namedBy}, ${encryptSubject(keyring, id, customer)}, ${actor.type}, ${actor.id},
          ${dueAt}, ${now}
        )
        returning *`
      const entry = { scopeId: workspaceId, actor, action: 'customer.erasure_began', target: `erasure:${id}` }
      await recordAudit(tx, entry, now)
      if (row === undefined) throw new Error('A row was expected')
      return row
    }),
  )
}
