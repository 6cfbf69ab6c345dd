import formbody from '@fastify/formbody'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError, InvalidInput } from '../base/errors.ts'
import { type App, errors } from '../base/route.ts'
import { attributeTo } from '../base/shares/work.ts'
import type { Html } from '../base/text/html.ts'
import type { LeadDeps } from '../leads/lead/lead.ts'
import { formNotFound, isQuotaReached } from './form/errors.ts'
import { type Form, type PublicForm, tokenField } from './form/form.ts'
import { carriedParameters, type RawFields } from './form/parameters.ts'
import { findPublicForm } from './form/queries.ts'
import * as schema from './form/schema.ts'
import { formPage, noticePage, type Refusal, style, thanksPage } from './page/page.ts'
import { submitForm } from './submit/submit.ts'
import { issueToken } from './submit/token.ts'
import { admitSender, isJson, looseQuery, type RateDeps, takeTurn, wantsJson } from './submit/visitor.ts'

// Brings the types of what only the document of the API reads.

export interface PublicFormDeps extends LeadDeps, Omit<RateDeps, 'vault'> {
  /** The address that people use, without a trailing slash. */
  publicUrl: string
}

const security: Record<string, string[]>[] = []
const about = { tags: ['Forms'], security }

/** The public side of forms. Only these routes take form-encoded bodies, hence a scope of their own. */
export function formRoutes(app: App, deps: PublicFormDeps): void {
  app.register(async (scope: App) => {
    await scope.register(formbody)
    scope.addHook('onRequest', async (request) => {
      request.query = looseQuery(request.url)
    })
    scope.setErrorHandler(showError)
    pageRoutes(scope, deps)
    postRoutes(scope, deps)
  })
}

function pageRoutes(scope: App, deps: PublicFormDeps): void {
  scope.get('/f/assets/form.css', { schema: { hide: true } }, async (_request, reply) =>
    reply.header('cache-control', 'public, max-age=31536000, immutable').type('text/css; charset=utf-8').send(style),
  )

  scope.get(
    '/f/:slug',
    {
      schema: {
        ...about,
        operationId: 'showForm',
        summary: 'Page of a lead form',
        description:
          'HTML that works without scripts. It carries the `k_*` parameters of its address into the lead, and `utm_*` ones as `k_utm_*`; parameters that a lead could not hold are left behind.',
        params: schema.Slug,
        querystring: schema.Parameters,
        response: { 200: schema.Page, ...schema.orPage(errors(400, 404, 500, 503)) },
      },
    },
    async (request, reply) => {
      const form = await openForm(deps, request.params.slug)
      return showForm(deps, form, reply, { values: {}, address: request.query as RawFields, refusal: null })
    },
  )

  scope.get('/f/:slug/thanks', { schema: { hide: true, params: schema.Slug } }, async (request, reply) => {
    const form = await openForm(deps, request.params.slug)
    return sendPage(reply, thanksPage(form), form)
  })
}

function postRoutes(scope: App, deps: PublicFormDeps): void {
  scope.options('/f/:slug', { schema: { hide: true, params: schema.Slug } }, async (request, reply) => {
    const form = await openForm(deps, request.params.slug)
    admitSender(reply, form, deps.publicUrl, request)
    reply.headers({
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'content-type, accept',
      'access-control-max-age': '600',
    })
    return reply.code(204).send()
  })

  scope.post(
    '/f/:slug',
    {
      schema: {
        ...about,
        operationId: 'submitForm',
        summary: 'Send a lead form',
        description:
          "Open to the public, from the form's own page, from sites in its `allowedOrigins` (with CORS) and from servers. As JSON, or form-encoded: a browser is then sent on with 303, or shown the page again with what is wrong. `k_*` parameters of the address become custom fields; more than 10 in all, a bad key or a long value is 400. At most 10 posts a minute from one address (IPv6: 10 from a /64, 40 from a /48). Counts towards the daily lead quota: half of it at most for all forms of the workspace, a quarter for each. Emits `lead.created`.",
        consumes: ['application/json', 'application/x-www-form-urlencoded'],
        params: schema.Slug,
        querystring: schema.Parameters,
        body: schema.Submission,
        response: {
          201: schema.Submitted,
          303: schema.SentOn,
          ...schema.orPage(errors(400, 403, 404, 413, 415, 429, 500, 503)),
        },
      },
    },
    async (request, reply) => {
      const form = await openForm(deps, request.params.slug)
      const sender = admitSender(reply, form, deps.publicUrl, request)
      const { body, query } = request as { body: RawFields; query: RawFields }
      try {
        await takeTurn(deps, form, request, reply)
        const fromOwnPage = sender === 'own' && !isJson(request)
        await submitForm(deps, form, { body, query, fromOwnPage, refuseUnknown: isJson(request) })
      } catch (error) {
        if (wantsJson(request) || !(error instanceof ApiError)) throw error
        return showForm(deps, form, reply, { values: body, address: { ...query, ...body }, refusal: error })
      }
      const { thankYou, redirectUrl } = form
      if (!wantsJson(request)) return reply.redirect(redirectUrl ?? `/f/${form.slug}/thanks`, 303)
      reply.code(201)
      return { success: true, message: thankYou, redirectUrl }
    },
  )
}

async function openForm(deps: LeadDeps, slug: string): Promise<PublicForm> {
  const form = /^[a-z0-9-]{3,60}$/.test(slug) ? await findPublicForm(deps.db.sql, slug) : undefined
  if (form === undefined) throw formNotFound()
  attributeTo(form.workspaceId)
  return form
}

interface Shown {
  values: RawFields
  /** Where the parameters to carry along stand. */
  address: RawFields
  refusal: ApiError | null
}

async function showForm(deps: LeadDeps, form: PublicForm, reply: FastifyReply, shown: Shown): Promise<FastifyReply> {
  const keyring = await deps.vault.keyring(form.workspaceId)
  const { values, address } = shown
  // A page that took its time and comes back with what is wrong is put right in a moment.
  const taken = shown.refusal instanceof InvalidInput ? values[tokenField] : undefined
  const token = typeof taken === 'string' ? taken : issueToken(keyring, form.id, deps.clock.now())
  const refusal = shown.refusal && refusalOf(shown.refusal)
  if (shown.refusal !== null) reply.code(shown.refusal.statusCode).headers(shown.refusal.headers)
  return sendPage(reply, formPage({ form, token, carried: carriedParameters(form, address), values, refusal }), form)
}

function refusalOf(error: ApiError): Refusal {
  if (error instanceof InvalidInput) return { message: error.message, issues: error.issues }
  return {
    message: isQuotaReached(error) ? 'We can take no more today. Please try again tomorrow.' : error.message,
    issues: [],
  }
}

// What is not shown here goes to the handler of the whole server.
function showError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (!(error instanceof ApiError) || wantsJson(request)) throw error
  reply.code(error.statusCode).headers(error.headers)
  if (error.statusCode === 404) {
    return sendPage(reply, noticePage('There is no form here', 'It may have been closed. Please check the address.'))
  }
  return sendPage(reply, noticePage('This did not work', error.message))
}

/** Sends a page that may load its own style and nothing else; sites that the form lists may frame it. */
function sendPage(reply: FastifyReply, page: Html, form: Form | null = null): FastifyReply {
  return reply
    .headers({
      'content-security-policy': policyOf(form),
      // Under `no-referrer`, browsers would name the origin of our own form `null`.
      'referrer-policy': 'same-origin',
    })
    .type('text/html; charset=utf-8')
    .send(page.toString())
}

function policyOf(form: Form | null): string {
  const frames = form?.allowedOrigins.includes('*') ? ['*'] : ["'self'", ...(form?.allowedOrigins ?? [])]
  // Browsers hold the redirect after a post to this as well, and that address may redirect on.
  const targets = form?.redirectUrl ? "'self' https: http:" : "'self'"
  return [
    "default-src 'none'",
    "style-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    `form-action ${targets}`,
    `frame-ancestors ${frames.join(' ')}`,
  ].join('; ')
}
