import formbody from '@fastify/formbody'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isDistributed } from '../base/citus/distributed-sql.ts'
import { type Sql, type Tx, violates } from '../base/db.ts'
import { ApiError, badRequest, InvalidInput, tooManyRequests } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import { type App, errors } from '../base/route.ts'
import { setWorkspace } from '../base/scheduling/work-context.ts'
import type { Html } from '../base/text/html.ts'
import { secondsToNextUtcDay, startOfUtcDay } from '../base/time.ts'
import type { LeadDeps } from '../leads/lead/lead.ts'
import { createClaimedLead } from '../leads/write/create.ts'
import type { Form, PublicForm } from './form/form.ts'
import { decoyField, findPublicForm, formNotFound, isQuotaReached, tokenField } from './form/form.ts'
import * as schema from './form/schema.ts'
import { formPage, noticePage, type Refusal, style, thanksPage } from './page/page.ts'
import { carriedParameters, type RawFields, readSubmission } from './submit/submission.ts'
import { answersOf, insertSubmission } from './submit/submissions.ts'
import type { RateDeps, TokenReading } from './submit/visitor.ts'
import { admitSender, isJson, issueToken, looseQuery, readToken, takeTurn, wantsJson } from './submit/visitor.ts'

interface PublicFormDeps extends LeadDeps, Omit<RateDeps, 'keyStore'> {
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
  setWorkspace(form.workspaceId)
  return form
}

interface Shown {
  values: RawFields
  /** Where the parameters to carry along stand. */
  address: RawFields
  refusal: ApiError | null
}

async function showForm(deps: LeadDeps, form: PublicForm, reply: FastifyReply, shown: Shown): Promise<FastifyReply> {
  const keyring = await deps.keyStore.keyring(form.workspaceId)
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

interface FilledForm {
  body: RawFields
  /** The parameters of the address. */
  query: RawFields
  /** Whether it comes from the page that we served, which holds a token. */
  fromOwnPage: boolean
  refuseUnknown: boolean
}

/**
 * Makes one lead of a filled form, however often the same page is sent. Refuses with 400 what does not fit and what
 * came too fast or too late, and with 429 when the day's quota, or what forms have of it, is used up. A program that filled the decoy is told
 * that all went well.
 */
async function submitForm(deps: LeadDeps, form: PublicForm, filled: FilledForm): Promise<void> {
  const { body, query } = filled
  if (String(body[decoyField] ?? '') !== '') return
  const now = deps.clock.now()
  const nonce = await nonceOf(deps, form, filled, now)
  const { patch, answers, issues } = readSubmission(form, body, query, filled.refuseUnknown)
  const { workspaceId, id: formId, leadSettings } = form
  const user = { ...leadSettings, workspaceId, masked: true, actor: { type: 'form', id: formId } } as const
  const keyring = await deps.keyStore.keyring(workspaceId)
  const submission = { id: newId(now), formId, nonce, submittedAt: now }
  const sealed = keyring.encrypt(answersOf(submission.id), JSON.stringify(answers))
  try {
    await createClaimedLead(deps, user, patch, issues, async (tx, lead) => {
      await insertSubmission(tx, workspaceId, { ...submission, leadId: lead.id, answers: sealed })
      await takeFormQuota(tx, workspaceId, formId, now)
    })
  } catch (error) {
    if (violates(error, 'form_submissions_form_fkey')) throw formNotFound()
    if (!violates(error, 'form_submissions_nonce_key')) throw error
  }
}

async function nonceOf(
  deps: LeadDeps,
  form: PublicForm,
  { body, fromOwnPage }: FilledForm,
  now: Date,
): Promise<string> {
  const token = body[tokenField]
  if (token === undefined && !fromOwnPage) return newId(now)
  const keyring = await deps.keyStore.keyring(form.workspaceId)
  const reading = readToken(keyring, form.id, typeof token === 'string' ? token : '', now)
  if (!reading.ok) throw badRequest(sendAgain[reading.problem])
  return reading.nonce
}

const sendAgain: Record<Extract<TokenReading, { ok: false }>['problem'], string> = {
  tampered: 'This page could not be recognised. Please send it once more.',
  'too fast': 'That was very quick. Please look it over and send it once more.',
  'too old': 'This page was open for more than a day. Please send it once more.',
}

// Anybody can post a form. Half of the day's leads stay for keys and people, and no form takes what others have.
const shares = { all: 2, each: 4 } as const

/** Counts a lead of the form against the forms' share of the daily lead quota; throws 429 when it is used up. */
async function takeFormQuota(tx: Tx, workspaceId: string, formId: string, now: Date): Promise<void> {
  const day = startOfUtcDay(now)
  const first = await takeOne(tx, workspaceId, day, workspaceId, shares.all)
  const one = first === undefined ? undefined : await takeOne(tx, workspaceId, day, formId, shares.each)
  if (first === undefined || one === undefined) {
    throw tooManyRequests('Daily lead limit of forms reached', secondsToNextUtcDay(now))
  }
  if (first > 1) return
  await tx`
    delete from form_quota
    where workspace_id = ${workspaceId}
      and day < ${day}::date`
}

/** How many there are of the day with this one; undefined when there is no room for it. */
async function takeOne(
  tx: Tx,
  workspaceId: string,
  day: Date,
  ofId: string,
  share: number,
): Promise<number | undefined> {
  const [row] = await tx<{ taken: number }[]>`
    insert into form_quota as q (workspace_id, day, form_id, taken)
    values (${workspaceId}, ${day}::date, ${ofId}, 1)
    on conflict (workspace_id, day, form_id) do update
    set taken = q.taken + 1
    where q.taken < ${isDistributed(tx) ? tx`${await readMost(tx, workspaceId, share)}` : tx`(${mostOf(tx, workspaceId, share)})`}
    returning taken`
  return row?.taken
}

const mostOf = (sql: Sql, workspaceId: string, share: number) => sql`
  select case when daily_lead_quota = 0 then 2147483647 else greatest(1, daily_lead_quota / ${share}::integer) end as most
  from workspaces
  where id = ${workspaceId}`

/** Where rows are spread no insert asks another table. */
async function readMost(sql: Sql, workspaceId: string, share: number): Promise<number> {
  const [row] = await sql<{ most: number }[]>`${mostOf(sql, workspaceId, share)}`
  return row?.most ?? 0
}
