import type { FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import { type TObject, type TProperties, Type } from 'typebox'
import { callerOf } from '../../access/keys/caller.ts'
import type { Guard } from '../../access/keys/guard.ts'
import { setRateLimitHeaders } from '../../access/rate-limit/request-limits.ts'
import type { App } from '../../base/route.ts'
import { admitTo } from '../admit.ts'
import { runVerb } from '../run-verb.ts'
import type { AgentCaller, AgentDeps, Verb } from '../verb.ts'

export const basePath = '/api/v2'

/** A route for each verb: the path's names, the query of a GET and the body of all else make its input. */
export function verbRoutes(
  app: App,
  deps: AgentDeps,
  guard: Pick<Guard, 'anyKey' | 'admit'>,
  verbs: readonly Verb[],
): void {
  app.decorateRequest('agent', null)
  for (const verb of verbs) {
    const { params, rest } = partsOf(verb)
    const isGet = verb.http.method === 'GET'
    const { maxBodyBytes } = verb.http
    app.route({
      method: verb.http.method as HTTPMethods,
      url: `${basePath}${verb.http.path}`,
      ...(maxBodyBytes !== undefined && { bodyLimit: maxBodyBytes }),
      onRequest: [
        guard.anyKey(),
        async (request, reply) => {
          request.call = { verb: verb.name }
          request.agent = await admitTo(guard, verb, callerOf(request))
          if (request.agent.left !== null) setRateLimitHeaders(reply, request.agent.left)
        },
      ],
      preValidation: async (request) => {
        // Where every field may be left out, so may the body.
        if (!isGet) request.body ??= {}
      },
      // It is in a document of its own.
      schema: { hide: true, params, ...(isGet ? { querystring: rest } : { querystring: none, body: rest }) },
      handler: async (request, reply) => {
        const { query, body, params: named } = request as { query: object; body: object; params: object }
        const input = { ...(isGet ? query : body), ...named }
        const answer = await runVerb(deps, verb, agentOf(request), input, goneSignal(reply))
        return reply.send(answer)
      },
    })
  }
}

const none = Type.Object({}, { additionalProperties: false })

export interface Parts {
  params: TObject
  rest: TObject
}

/** A verb's input as HTTP has it: what is in the path, and what is not. */
export function partsOf({ http, input }: Verb): Parts {
  const named = new Set([...http.path.matchAll(/:(\w+)/g)].map(([, name]) => name ?? ''))
  const pick = (isNamed: boolean): TProperties =>
    Object.fromEntries(Object.entries(input.properties).filter(([name]) => named.has(name) === isNamed))
  return { params: Type.Object(pick(true)), rest: Type.Object(pick(false), { additionalProperties: false }) }
}

declare module 'fastify' {
  interface FastifyRequest {
    agent: AgentCaller | null
  }
}

function agentOf({ agent }: FastifyRequest): AgentCaller {
  if (agent === null) throw new Error('This route admits nobody')
  return agent
}

/** Aborts when the caller goes before it is answered. */
function goneSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  raw.once('close', () => gone.abort())
  return gone.signal
}
