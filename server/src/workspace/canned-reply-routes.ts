import { Type } from 'typebox'
import type { Clock } from '../base/clock.ts'
import type { Db } from '../base/db.ts'
import { type App, timestamp } from '../base/route.ts'
import { visible } from '../base/schema-types.ts'
import type { TeamGuard } from '../team/member.ts'
import { teamApi } from '../team/team-api.ts'
import { closed, idSchema, workspaceParams } from '../team/team-schema.ts'
import {
  type CannedReplyRow,
  changeCannedReply,
  createCannedReply,
  deleteCannedReply,
  listCannedReplies,
  placeholders,
} from './canned-replies.ts'

const path = '/api/team/v1/workspaces/:workspaceId/canned-replies'
const replyParams = Type.Object({ ...workspaceParams, replyId: idSchema('The canned reply.') })

const fields = {
  shortcut: Type.String({
    maxLength: 40,
    pattern: '^[a-z0-9][a-z0-9_-]{0,39}$',
    description: 'What is typed behind `/`; unique in the workspace.',
    example: 'hours',
  }),
  text: Type.String({
    minLength: 1,
    maxLength: 4096,
    pattern: visible,
    description: `Plain text. The page fills \`{{${placeholders.join('}}`, `{{')}}}\`.`,
    example: 'Hi {{contact.first_name}}, we are open from 9 to 18.',
  }),
}
const CannedReply = Type.Object(
  {
    id: idSchema('The canned reply.'),
    ...fields,
    createdAt: timestamp('When it was made.'),
    updatedAt: timestamp('When it last changed.'),
  },
  { title: 'CannedReply' },
)
const oneReply = Type.Object({ cannedReply: CannedReply })

interface Deps {
  db: Db
  clock: Clock
}

/** Texts that members send often: members use them, admins write them. */
export function cannedReplyTeamRoutes(app: App, deps: Deps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Canned replies')
  const { db } = deps
  api.get(path, 'member', {
    operationId: 'listCannedReplies',
    summary: 'List canned replies',
    description: 'All of them, by shortcut.',
    answers: { 200: Type.Object({ cannedReplies: Type.Array(CannedReply, { maxItems: 500 }) }) },
    allErrors: [400, 401, 404],
    run: async ({ member }) => ({
      cannedReplies: (await listCannedReplies(db.sql, member.workspaceId)).map(present),
    }),
  })
  api.post(path, 'admin', {
    operationId: 'createCannedReply',
    summary: 'Create a canned reply',
    description: 'For admins. A workspace has at most 500.',
    body: Type.Object(fields, closed),
    answers: { 201: oneReply },
    errors: [409],
    run: async ({ member, body }) => {
      const row = await createCannedReply(deps, member, body)
      return { cannedReply: present(row) }
    },
  })
  api.patch(`${path}/:replyId`, 'admin', {
    operationId: 'updateCannedReply',
    summary: 'Change a canned reply',
    description: 'For admins.',
    params: replyParams,
    body: Type.Partial(Type.Object(fields), { ...closed, minProperties: 1 }),
    answers: { 200: oneReply },
    errors: [409],
    run: async ({ member, params, body }) => {
      const row = await changeCannedReply(deps, member, params.replyId, body)
      return { cannedReply: present(row) }
    },
  })
  api.delete(`${path}/:replyId`, 'admin', {
    operationId: 'deleteCannedReply',
    summary: 'Delete a canned reply',
    description: 'For admins.',
    params: replyParams,
    run: ({ member, params }) => deleteCannedReply(deps, member, params.replyId),
  })
}

function present({ id, shortcut, text, created_at: createdAt, updated_at: updatedAt }: CannedReplyRow) {
  return { id, shortcut, text, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() }
}
