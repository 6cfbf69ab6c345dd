import { type Static, Type } from 'typebox'
import type { Clock } from '../base/clock.ts'
import type { Db, Sql } from '../base/db.ts'
import { invalid } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import { selectedAs } from '../base/postgres/rows.ts'
import { type App, timestamp } from '../base/route.ts'
import { visiblePattern } from '../base/schema-types.ts'
import { withIsoTimes } from '../base/time.ts'
import type { Member, TeamGuard } from '../team/member.ts'
import { teamApi } from '../team/team-api.ts'
import { closed, idSchema, workspaceParams } from '../team/team-schema.ts'
import { addItem, changeItem, deleteItem, type OwnedList } from './owned-list.ts'

/** Placeholders allowed in `{{…}}`. The web app fills them in. */
const placeholders = ['contact.name', 'contact.first_name', 'contact.phone', 'me.name', 'workspace.name'] as const

const cannedReplies: OwnedList = {
  item: 'canned_reply',
  table: (sql) => sql`canned_replies`,
  maxItems: 500,
  fullMessage: 'A workspace has at most 500 canned replies. Delete one first.',
  notFoundMessage: 'Canned reply not found',
  unique: {
    constraint: 'canned_replies_shortcut_key',
    field: 'shortcut',
    takenMessage: 'A canned reply with this shortcut already exists',
  },
}

interface CannedReply extends Static<typeof NewCannedReply> {
  id: string
  createdAt: Date
  updatedAt: Date
}

const columns = selectedAs('canned_replies', ['id', 'shortcut', 'text', 'createdAt', 'updatedAt'])

interface Deps {
  db: Db
  clock: Clock
}

export async function listCannedReplies(sql: Sql, workspaceId: string): Promise<CannedReply[]> {
  return sql<CannedReply[]>`
    select ${columns}
    from canned_replies
    where workspace_id = ${workspaceId}
    order by shortcut`
}

/** Creates a canned reply. A workspace has at most 500, with unique shortcuts (409). */
async function createCannedReply(
  { db, clock }: Deps,
  by: Member,
  { shortcut, text }: Static<typeof NewCannedReply>,
): Promise<CannedReply> {
  checkPlaceholders(text)
  const now = clock.now()
  const reply = { id: newId(now), shortcut, text, createdAt: now, updatedAt: now }
  await db.tx((tx) => addItem(tx, cannedReplies, { by, now }, reply))
  return reply
}

function changeCannedReply(
  { db, clock }: Deps,
  by: Member,
  id: string,
  patch: Partial<Static<typeof NewCannedReply>>,
): Promise<CannedReply> {
  if (patch.text !== undefined) checkPlaceholders(patch.text)
  const now = clock.now()
  const values = { ...patch, updatedAt: now }
  return db.tx((tx) => changeItem<CannedReply>(tx, cannedReplies, { by, id, now }, values, columns))
}

async function deleteCannedReply({ db, clock }: Deps, by: Member, id: string): Promise<void> {
  await db.tx((tx) => deleteItem(tx, cannedReplies, { by, id, now: clock.now() }))
}

// An unknown placeholder would be sent to customers unfilled.
function checkPlaceholders(text: string): void {
  const placeholderNames = [...text.matchAll(/\{\{([^{}]*)\}\}/g)].map(([, name = '']) => name.trim())
  const unknown = placeholderNames.find((name) => !placeholders.some((known) => known === name))
  if (unknown !== undefined)
    throw invalid('text', `may contain only the placeholders {{${placeholders.join('}}, {{')}}}`)
}

const path = '/api/team/v1/workspaces/:workspaceId/canned-replies'
const replyParams = Type.Object({ ...workspaceParams, replyId: idSchema('The canned reply.') })

const fields = {
  shortcut: Type.String({
    maxLength: 40,
    pattern: '^[a-z0-9][a-z0-9_-]{0,39}$',
    description: 'Text to type after `/`; unique in the workspace.',
    example: 'hours',
  }),
  text: Type.String({
    minLength: 1,
    maxLength: 4096,
    pattern: visiblePattern,
    description: `Plain text. The web app fills in \`{{${placeholders.join('}}`, `{{')}}}\`.`,
    example: 'Hi {{contact.first_name}}, we are open from 9 to 18.',
  }),
}
const NewCannedReply = Type.Object(fields, closed)
const CannedReplySchema = Type.Object(
  {
    id: idSchema('The canned reply.'),
    ...fields,
    createdAt: timestamp('Creation time.'),
    updatedAt: timestamp('Time of the last change.'),
  },
  { title: 'CannedReply' },
)
const oneReply = Type.Object({ cannedReply: CannedReplySchema })

export function cannedReplyTeamRoutes(app: App, deps: Deps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Canned replies')
  const { db } = deps
  api.get(path, 'member', {
    operationId: 'listCannedReplies',
    summary: 'List canned replies',
    description: 'Returns all, sorted by shortcut.',
    answers: { 200: Type.Object({ cannedReplies: Type.Array(CannedReplySchema, { maxItems: 500 }) }) },
    allErrors: [400, 401, 404],
    run: async ({ member }) => ({
      cannedReplies: (await listCannedReplies(db.sql, member.workspaceId)).map(withIsoTimes),
    }),
  })
  api.post(path, 'admin', {
    operationId: 'createCannedReply',
    summary: 'Create a canned reply',
    description: 'For admins. A workspace has at most 500.',
    body: NewCannedReply,
    answers: { 201: oneReply },
    errors: [409],
    run: async ({ member, body }) => ({ cannedReply: withIsoTimes(await createCannedReply(deps, member, body)) }),
  })
  api.patch(`${path}/:replyId`, 'admin', {
    operationId: 'updateCannedReply',
    summary: 'Change a canned reply',
    description: 'For admins.',
    params: replyParams,
    body: Type.Partial(NewCannedReply, { ...closed, minProperties: 1 }),
    answers: { 200: oneReply },
    errors: [409],
    run: async ({ member, params, body }) => ({
      cannedReply: withIsoTimes(await changeCannedReply(deps, member, params.replyId, body)),
    }),
  })
  api.delete(`${path}/:replyId`, 'admin', {
    operationId: 'deleteCannedReply',
    summary: 'Delete a canned reply',
    description: 'For admins.',
    params: replyParams,
    run: ({ member, params }) => deleteCannedReply(deps, member, params.replyId),
  })
}
