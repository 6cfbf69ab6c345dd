import type {
  FastifyReply,
  FastifyRequest,
  FastifySchema,
  HTTPMethods,
  onRequestHookHandler,
  RouteOptions,
} from 'fastify'
import { type Static, type TSchema, Type } from 'typebox'
import { type App, type ErrorStatus, errors } from '../base/route.ts'
import { type Member, memberOf, type Role, roles, type TeamCaller, type TeamGuard, teamCallerOf } from './member.ts'
import { done, openTeamRoute, teamRoute, workspaceParams } from './team-schema.ts'

/** Who may call an operation: members of the path's workspace with at least a role, signed-in, operators, anyone. */
type Audience = Role | 'signed-in' | 'operator' | 'visitor'

const workspacePath = Type.Object(workspaceParams)

/** The type that a schema describes; `unknown` without a schema. */
type TypeOf<S> = S extends TSchema ? Static<S> : unknown

/** A request to an operation. The schemas determine the types of its parts. */
interface Call<P, Q, B, H> {
  params: TypeOf<P>
  query: TypeOf<Q>
  body: TypeOf<B>
  headers: TypeOf<H>
  /** Throws if the audience is not a role. */
  member: Member
  caller: TeamCaller
  request: FastifyRequest
  reply: FastifyReply
}

/** An operation of the team API: documentation, schemas and handler. */
interface Operation<P, Q, B, H, A> {
  operationId: string
  summary: string
  description: string
  /** Default: the workspace id, if the audience is a role. */
  params?: P
  query?: Q
  body?: B
  headers?: H
  /** Response schemas by status. With several successes `run` sets it. Default: 200 with `{ success: true }`. */
  answers?: Record<number, A>
  /** Added to 400, 401, 403, for members 404, and with a body 413 and 415. */
  errors?: readonly ErrorStatus[]
  /** Replaces all of those. */
  allErrors?: readonly ErrorStatus[]
  options?: Pick<
    RouteOptions,
    'attachValidation' | 'bodyLimit' | 'config' | 'schemaErrorFormatter' | 'validatorCompiler'
  >
  /** Returns the body of the success response, or the reply if it has sent one itself. */
  run: (call: Call<P, Q, B, H>) => TypeOf<A> | Promise<TypeOf<A>>
}

type AddRoute = <P = typeof workspacePath, Q = undefined, B = undefined, H = undefined, A = undefined>(
  path: string,
  audience: Audience,
  operation: Operation<P, Q, B, H, A>,
) => void

export type TeamApi = Record<'get' | 'post' | 'put' | 'patch' | 'delete', AddRoute>

/** Declares operations of the team API. Each becomes a guarded route, documented under this tag. */
export function teamApi(app: App, guard: TeamGuard, tag: string): TeamApi {
  const add =
    (method: string): AddRoute =>
    (url, audience, operation) =>
      addRoute(app, guard, tag, { method, url, audience, operation: operation as unknown as AnyOperation })
  return { get: add('GET'), post: add('POST'), put: add('PUT'), patch: add('PATCH'), delete: add('DELETE') }
}

type Schema = TSchema | undefined
type AnyOperation = Operation<Schema, Schema, Schema, Schema, TSchema>

interface Route {
  method: string
  url: string
  audience: Audience
  operation: AnyOperation
}

function addRoute(app: App, guard: TeamGuard, tag: string, { method, url, audience, operation }: Route): void {
  const { operationId, summary, description, query, body, headers, answers, options, run } = operation
  const isOfMembers = roles.some((role) => role === audience)
  const params = operation.params ?? (isOfMembers ? workspacePath : undefined)
  const defaultErrors: ErrorStatus[] = [400, 401, 403]
  if (isOfMembers) defaultErrors.push(404)
  if (body !== undefined) defaultErrors.push(413, 415)
  const failures = operation.allErrors ?? [...defaultErrors, ...(operation.errors ?? [])]
  const successes = Object.keys(answers ?? { 200: done }).filter((status) => Number(status) < 300)
  const schema: FastifySchema = {
    ...(audience === 'visitor' ? openTeamRoute(tag) : teamRoute(tag)),
    ...{ operationId, summary, description },
    ...(params && { params }),
    ...(query && { querystring: query }),
    ...(headers && { headers }),
    ...(body && { body }),
    response: { ...errors(...failures), ...(answers ?? { 200: done }) },
  }
  app.route({
    ...options,
    method: method as HTTPMethods,
    ...{ url, schema },
    onRequest: guardHookOf(guard, audience),
    handler: async (request, reply) => {
      const result = await run(callOf(request, reply))
      // A handler that sends the reply itself, such as a file, has also set its status.
      if (reply.sent) return reply
      if (successes.length === 1) reply.code(Number(successes[0]))
      return answers === undefined ? { success: true } : result
    },
  })
}

function guardHookOf(guard: TeamGuard, audience: Audience): onRequestHookHandler {
  if (audience === 'visitor') return guard.visitor()
  if (audience === 'signed-in') return guard.signedIn()
  return audience === 'operator' ? guard.operator() : guard.member(audience)
}

const callOf = (request: FastifyRequest, reply: FastifyReply) => ({
  params: request.params,
  query: request.query,
  body: request.body,
  headers: request.headers,
  get member() {
    return memberOf(request)
  },
  get caller() {
    return teamCallerOf(request)
  },
  request,
  reply,
})
