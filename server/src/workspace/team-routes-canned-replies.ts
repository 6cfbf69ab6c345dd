import { Type } from 'typebox'
import type { Clock } from '../base/clock.ts'
import type { Db } from '../base/db.ts'
import { type App, errors, timestamp } from '../base/route.ts'
import { visible } from '../base/schema-types.ts'
import { memberOf, type TeamGuard } from '../team/member.ts'
import { closed, done, idSchema, teamRoute, workspaceParams } from '../team/team-schema.ts'
import {
  type CannedReplyRow,
  changeCannedReply,
  createCannedReply,
  deleteCannedReply,
  listCannedReplies,
  placeholders,
} from './canned-replies.ts'

const path = '/api/team/v1/workspaces/:workspaceId/canned-replies'
const params = Type.Object(workspaceParams)
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
  listRoute(app, deps, guard)
  createRoute(app, deps, guard)
  changeRoute(app, deps, guard)
  deleteRoute(app, deps, guard)
}

function listRoute(app: App, { db }: Deps, guard: TeamGuard): void {
  app.route({
    method: 'GET',
    url: path,
    onRequest: guard.member('member'),
    schema: {
      ...teamRoute('Canned replies'),
      operationId: 'listCannedReplies',
      summary: 'List canned replies',
      description: 'All of them, by shortcut.',
      params,
      response: {
        200: Type.Object({ cannedReplies: Type.Array(CannedReply, { maxItems: 500 }) }),
        ...errors(400, 401, 404),
      },
    },
    handler: async (request) => ({
      cannedReplies: (await listCannedReplies(db.sql, memberOf(request).workspaceId)).map(present),
    }),
  })
}

function createRoute(app: App, deps: Deps, guard: TeamGuard): void {
  app.route({
    method: 'POST',
    url: path,
    onRequest: guard.member('admin'),
    schema: {
      ...teamRoute('Canned replies'),
      operationId: 'createCannedReply',
      summary: 'Create a canned reply',
      description: 'For admins. A workspace has at most 500.',
      params,
      body: Type.Object(fields, closed),
      response: { 201: oneReply, ...errors(400, 401, 403, 404, 409, 413, 415) },
    },
    handler: async (request, reply) => {
      const row = await createCannedReply(deps, memberOf(request), request.body)
      return reply.code(201).send({ cannedReply: present(row) })
    },
  })
}

function changeRoute(app: App, deps: Deps, guard: TeamGuard): void {
  app.route({
    method: 'PATCH',
    url: `${path}/:replyId`,
    onRequest: guard.member('admin'),
    schema: {
      ...teamRoute('Canned replies'),
      operationId: 'updateCannedReply',
      summary: 'Change a canned reply',
      description: 'For admins.',
      params: replyParams,
      body: Type.Partial(Type.Object(fields), { ...closed, minProperties: 1 }),
      response: { 200: oneReply, ...errors(400, 401, 403, 404, 409, 413, 415) },
    },
    handler: async (request) => {
      const row = await changeCannedReply(deps, memberOf(request), request.params.replyId, request.body)
      return { cannedReply: present(row) }
    },
  })
}

function deleteRoute(app: App, deps: Deps, guard: TeamGuard): void {
  app.route({
    method: 'DELETE',
    url: `${path}/:replyId`,
    onRequest: guard.member('admin'),
    schema: {
      ...teamRoute('Canned replies'),
      operationId: 'deleteCannedReply',
      summary: 'Delete a canned reply',
      description: 'For admins.',
      params: replyParams,
      response: { 200: done, ...errors(400, 401, 403, 404) },
    },
    handler: async (request) => {
      await deleteCannedReply(deps, memberOf(request), request.params.replyId)
      return { success: true }
    },
  })
}

function present({ id, shortcut, text, created_at: createdAt, updated_at: updatedAt }: CannedReplyRow) {
  return { id, shortcut, text, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() }
}
