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
import { recordConsent } from '../inbox/consent/record-consent.ts'
import type { LeadDeps } from '../leads/lead/lead.ts'
import { createTouch, fieldsOfParameters, recordTouch } from '../leads/sources/attribution.ts'
import { createClaimedLead } from '../leads/write/create.ts'
import type { Form, PublicForm } from './form/form.ts'
import { decoyField, findPublicForm, formNotFound, isQuotaReached, tokenField } from './form/form.ts'
import * as schema from './form/schema.ts'
import { formPage, noticePage, type Refusal, style, thanksPage } from './page/page.ts'
import { carriedClickIds, carriedParameters, parseSubmission, type RawFields } from './submit/submission.ts'
import { answersContext, insertSubmission } from './submit/submissions.ts'
import type { RateDeps, TokenResult } from './submit/visitor.ts'
import {
  authorizeSender,
  countPost,
  isJson,
  issueToken,
  parseLooseQuery,
  verifyToken,
  wantsJson,
} from './submit/visitor.ts'

interface PublicFormDeps extends LeadDeps, Omit<RateDeps, 'keyStore'> {
  /** Public base URL, without a trailing slash. */
  publicUrl: string
  /** Starts the sequences of the form, in the transaction that creates the lead. */
  submitted?: (tx: Tx, workspaceId: string, by: { formId: string; leadId: string }, now: Date) => Promise<void>
}

const security: Record<string, string[]>[] = []
const about = { tags: ['Forms'], security }

/** Adds the public routes of forms. They have their own scope because only they accept form-encoded bodies. */
export function formRoutes(app: App, deps: PublicFormDeps): void {
  app.register(async (scope: App) => {
    await scope.register(formbody)
    scope.addHook('onRequest', async (request) => {
      request.query = parseLooseQuery(request.url)
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
          'HTML that works without scripts. The `k_*` parameters of its URL are stored with the lead, and `utm_*` ones as `k_utm_*`; parameters that do not fit are ignored.',
        params: schema.Slug,
        querystring: schema.Parameters,
        response: { 200: schema.Page, ...schema.withHtmlErrors(errors(400, 404, 500, 503)) },
      },
    },
    async (request, reply) => {
      const form = await findOpenForm(deps, request.params.slug)
      return showForm(deps, form, reply, { values: {}, address: request.query as RawFields, refusal: null })
    },
  )

  scope.get('/f/:slug/thanks', { schema: { hide: true, params: schema.Slug } }, async (request, reply) => {
    const form = await findOpenForm(deps, request.params.slug)
    return sendPage(reply, thanksPage(form), form)
  })
}

function postRoutes(scope: App, deps: PublicFormDeps): void {
  scope.options('/f/:slug', { schema: { hide: true, params: schema.Slug } }, async (request, reply) => {
    const form = await findOpenForm(deps, request.params.slug)
    authorizeSender(reply, form, deps.publicUrl, request)
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
        summary: 'Submit a lead form',
        description:
          "Open to the public, from the form's own page, from sites in its `allowedOrigins` (with CORS) and from servers. Accepts JSON, or form-encoded bodies, which get a 303 redirect or the page again with the problems. `k_*` parameters of the URL become custom fields; more than 10 in total, an invalid key or a long value is 400. At most 10 posts a minute from one address (IPv6: 10 from a /64, 40 from a /48). Counts towards the daily lead quota: at most half of it for all forms of the workspace, and a quarter for each form. Emits `lead.created`.",
        consumes: ['application/json', 'application/x-www-form-urlencoded'],
        params: schema.Slug,
        querystring: schema.Parameters,
        body: schema.Submission,
        response: {
          201: schema.Submitted,
          303: schema.RedirectResponse,
          ...schema.withHtmlErrors(errors(400, 403, 404, 413, 415, 429, 500, 503)),
        },
      },
    },
    async (request, reply) => {
      const form = await findOpenForm(deps, request.params.slug)
      const sender = authorizeSender(reply, form, deps.publicUrl, request)
      const { body, query } = request as { body: RawFields; query: RawFields }
      try {
        await countPost(deps, form, request, reply)
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

async function findOpenForm(deps: LeadDeps, slug: string): Promise<PublicForm> {
  const form = /^[a-z0-9-]{3,60}$/.test(slug) ? await findPublicForm(deps.db.sql, slug) : undefined
  if (form === undefined) throw formNotFound()
  setWorkspace(form.workspaceId)
  return form
}

interface FormState {
  values: RawFields
  /** Source of the URL parameters to submit with the form. */
  address: RawFields
  refusal: ApiError | null
}

async function showForm(deps: LeadDeps, form: PublicForm, reply: FastifyReply, state: FormState) {
  const keyring = await deps.keyStore.keyring(form.workspaceId)
  const { values, address } = state
  // A page shown again keeps its token, because a correction may take less time than the minimum for a new page.
  const taken = state.refusal instanceof InvalidInput ? values[tokenField] : undefined
  const token = typeof taken === 'string' ? taken : issueToken(keyring, form.id, deps.clock.now())
  const refusal = state.refusal && refusalOf(state.refusal)
  if (state.refusal !== null) reply.code(state.refusal.statusCode).headers(state.refusal.headers)
  const carried = [...carriedParameters(form, address), ...carriedClickIds(address)]
  return sendPage(reply, formPage({ form, token, carried, values, refusal }), form)
}

function refusalOf(error: ApiError): Refusal {
  if (error instanceof InvalidInput) return { message: error.message, issues: error.issues }
  return {
    message: isQuotaReached(error)
      ? 'We cannot accept more submissions today. Please try again tomorrow.'
      : error.message,
    issues: [],
  }
}

// Rethrows JSON and unexpected errors to the server's error handler.
function showError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (!(error instanceof ApiError) || wantsJson(request)) throw error
  reply.code(error.statusCode).headers(error.headers)
  if (error.statusCode === 404) {
    return sendPage(reply, noticePage('Form not found', 'It may have been closed. Please check the address.'))
  }
  return sendPage(reply, noticePage('Something went wrong', error.message))
}

/** Sends a page that can load only its own style. Sites that the form lists can frame it. */
function sendPage(reply: FastifyReply, page: Html, form: Form | null = null): FastifyReply {
  return reply
    .headers({
      'content-security-policy': policyOf(form),
      // With `no-referrer`, browsers would send `null` as the origin of our own form.
      'referrer-policy': 'same-origin',
    })
    .type('text/html; charset=utf-8')
    .send(page.toString())
}

function policyOf(form: Form | null): string {
  const frames = form?.allowedOrigins.includes('*') ? ['*'] : ["'self'", ...(form?.allowedOrigins ?? [])]
  // Browsers apply this to redirects after a post too, and that address may redirect again.
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
  /** URL parameters. */
  query: RawFields
  /** Whether it was posted from the page that we served, which contains a token. */
  fromOwnPage: boolean
  refuseUnknown: boolean
}

/**
 * Creates one lead from a submission, however often the same page is sent. Throws 400 for invalid input and for posts
 * that came too soon or too late, and 429 if the daily quota, or the forms' share of it, is used up. A bot that filled
 * the honeypot gets a success response.
 */
async function submitForm(deps: PublicFormDeps, form: PublicForm, filled: FilledForm): Promise<void> {
  const { body, query } = filled
  if (String(body[decoyField] ?? '') !== '') return
  const now = deps.clock.now()
  const nonce = await resolveNonce(deps, form, filled, now)
  const { patch, answers, optsIn, issues } = parseSubmission(form, body, query, filled.refuseUnknown)
  const { workspaceId, id: formId, leadSettings } = form
  const user = { ...leadSettings, workspaceId, masked: true, actor: { type: 'form', id: formId } } as const
  const keyring = await deps.keyStore.keyring(workspaceId)
  const touch = createTouch('form', now, fieldsOfParameters({ ...query, ...body }))
  const submission = { id: newId(now), formId, nonce, submittedAt: now }
  const encryptedAnswers = keyring.encrypt(answersContext(submission.id), JSON.stringify(answers))
  try {
    const claim = async (tx: Tx, lead: { id: string; phone: string | null }) => {
      await insertSubmission(tx, workspaceId, { ...submission, leadId: lead.id, answers: encryptedAnswers })
      await countAgainstFormQuota(tx, workspaceId, formId, now)
      await recordTouch(tx, keyring, workspaceId, lead.id, touch)
      if (!optsIn || lead.phone === null) return
      const customer = { phone: lead.phone, userId: null }
      const consent = { decision: 'opted_in', source: 'form', actor: user.actor, connectionId: null } as const
      await recordConsent({ tx, keyring, workspaceId, now }, { ...consent, customer, reportedAt: null })
    }
    await createClaimedLead(deps, user, patch, issues, claim, async (tx, lead) =>
      deps.submitted?.(tx, workspaceId, { formId, leadId: lead.id }, now),
    )
  } catch (error) {
    if (violates(error, 'form_submissions_form_fkey')) throw formNotFound()
    if (!violates(error, 'form_submissions_nonce_key')) throw error
  }
}

async function resolveNonce(deps: LeadDeps, form: PublicForm, { body, fromOwnPage }: FilledForm, now: Date) {
  const token = body[tokenField]
  if (token === undefined && !fromOwnPage) return newId(now)
  const keyring = await deps.keyStore.keyring(form.workspaceId)
  const verification = verifyToken(keyring, form.id, typeof token === 'string' ? token : '', now)
  if (!verification.ok) throw badRequest(resubmitMessages[verification.problem])
  return verification.nonce
}

const resubmitMessages: Record<Extract<TokenResult, { ok: false }>['problem'], string> = {
  tampered: 'This page could not be verified. Please send it again.',
  'too fast': 'That was very quick. Please check your input and send it again.',
  'too old': 'This page was open for more than a day. Please send it again.',
}

// Anybody can post a form, so half of the daily quota is reserved for keys and people, and no form can use it all.
const quotaDivisors = { all: 2, each: 4 } as const

/** Counts a lead against the forms' share of the daily quota. Throws 429 if it is used up. */
async function countAgainstFormQuota(tx: Tx, workspaceId: string, formId: string, now: Date): Promise<void> {
  const day = startOfUtcDay(now)
  const first = await incrementFormQuota(tx, workspaceId, day, workspaceId, quotaDivisors.all)
  const one =
    first === undefined ? undefined : await incrementFormQuota(tx, workspaceId, day, formId, quotaDivisors.each)
  if (first === undefined || one === undefined) {
    throw tooManyRequests('Daily lead limit of forms reached', secondsToNextUtcDay(now))
  }
  if (first > 1) return
  await tx`
    delete from form_quota
    where workspace_id = ${workspaceId}
      and day < ${day}::date`
}

/** Returns the number of leads of the day including this one, or undefined if the share is used up. */
async function incrementFormQuota(tx: Tx, workspaceId: string, day: Date, ofId: string, share: number) {
  const [row] = await tx<{ taken: number }[]>`
    insert into form_quota as q (workspace_id, day, form_id, taken)
    values (${workspaceId}, ${day}::date, ${ofId}, 1)
    on conflict (workspace_id, day, form_id) do update
    set taken = q.taken + 1
    where q.taken < ${isDistributed(tx) ? tx`${await readShareLimit(tx, workspaceId, share)}` : tx`(${shareLimitSql(tx, workspaceId, share)})`}
    returning taken`
  return row?.taken
}

const shareLimitSql = (sql: Sql, workspaceId: string, share: number) => sql`
  select case when daily_lead_quota = 0 then 2147483647 else greatest(1, daily_lead_quota / ${share}::integer) end as most
  from workspaces
  where id = ${workspaceId}`

/** On a distributed database an insert cannot query another table. */
async function readShareLimit(sql: Sql, workspaceId: string, share: number): Promise<number> {
  const [row] = await sql<{ most: number }[]>`${shareLimitSql(sql, workspaceId, share)}`
  return row?.most ?? 0
}
