import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { instanceScope } from '../../base/encryption/key-store.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { isUuid } from '../../base/id.ts'
import { addressGroup } from '../../base/outgoing/address.ts'
import type { App } from '../../base/route.ts'
import { countAudit, instanceEntry, recordAudit, systemActor, userActor } from '../../team/audit.ts'
import { listProviders, type Provider, saveTest } from '../providers/provider.ts'
import type { Limiter } from '../rate-limit/limiter.ts'
import { takeOrRefuse } from '../rate-limit/request-limits.ts'
import { findSession, type NewSession } from '../sign-in/sessions.ts'
import { completeSignIn } from '../sign-in/sign-in.ts'
import { setSessionCookies } from '../sign-in/sign-in-routes.ts'
import { visitorOf } from '../sign-in/visitor.ts'
import type { TeamDeps } from '../users/users.ts'
import { keepAttempt, type PendingAttempt, safeNext, takeAttempt } from './attempt.ts'
import { authorizePerson, linkIdentity, type Refusal, readIdentity, sidOf } from './identity.ts'
import { type Claims, type Oidc, SsoFailure } from './oidc.ts'

export interface SsoDeps extends TeamDeps {
  oidc: Oidc
  limiter: Limiter
}

/** Why the browser is sent back without success; the pages explain each. */
type Outcome = Refusal | SsoFailure['reason'] | 'expired'

const perMinute = 60
const providerParams = Type.Object({ providerId: Type.String({ maxLength: 36 }) })
const startQuery = Type.Object({ next: Type.Optional(Type.String({ maxLength: 2000 })) })
/** What providers send back. Other parameters are ignored. */
const answerQuery = Type.Object({
  code: Type.Optional(Type.String({ maxLength: 8192 })),
  state: Type.Optional(Type.String({ maxLength: 200 })),
  iss: Type.Optional(Type.String({ maxLength: 2000 })),
  error: Type.Optional(Type.String({ maxLength: 200 })),
})

/** Addresses at which a provider starts, and to which it sends people and its own requests. */
export const ssoPath = (providerId: string, what: '' | '/callback' | '/logout' = '') => `/sso/${providerId}${what}`

/** Adds the routes that a browser visits on its way to a provider and back. */
export function ssoRoutes(app: App, deps: SsoDeps): void {
  const { publicUrl } = deps
  app.get(
    ssoPath(':providerId'),
    { schema: { hide: true, params: providerParams, querystring: startQuery } },
    async (request, reply) => {
      await countRequest(deps, request)
      const next = safeNext(request.query.next, publicUrl)
      const instanceKeys = await deps.keyStore.keyring(instanceScope)
      const provider = await findEnabled(deps, instanceKeys, request.params.providerId)
      if (provider === undefined) return reply.redirect(pageOf('sign-in', 'failed', next), 303)
      try {
        const url = await startAttempt(deps, reply, provider, { purpose: 'sign-in', userId: null, next })
        return reply.redirect(url, 303)
      } catch (error) {
        if (!(error instanceof SsoFailure)) throw error
        await recordRefusal(deps, provider.id, error.reason, error.message)
        return reply.redirect(pageOf('sign-in', error.reason, next), 303)
      }
    },
  )
  app.get(
    ssoPath(':providerId', '/callback'),
    { schema: { hide: true, params: providerParams, querystring: answerQuery } },
    async (request, reply) => {
      await countRequest(deps, request)
      return reply.redirect(await finishAttempt(deps, request, reply, request.params.providerId), 303)
    },
  )
}

/** Counts per network: each visit may cost requests to a provider. */
export async function countRequest(deps: Pick<SsoDeps, 'limiter' | 'clientAddressOf'>, { raw }: FastifyRequest) {
  await takeOrRefuse(deps.limiter, `sso:${addressGroup(deps.clientAddressOf(raw))}`, perMinute)
}

export async function findEnabled(
  { db }: Pick<SsoDeps, 'db'>,
  instanceKeys: Keyring,
  id: string,
): Promise<Provider | undefined> {
  if (!isUuid(id)) return undefined
  return (await listProviders(db.sql, instanceKeys)).find((one) => one.id === id.toLowerCase() && one.isEnabled)
}

/** Begins a visit to the provider in this browser. Returns the address to open. Throws `SsoFailure`. */
export async function startAttempt(
  deps: SsoDeps,
  reply: FastifyReply,
  provider: Provider,
  start: Pick<PendingAttempt, 'purpose' | 'userId' | 'next'>,
): Promise<string> {
  const { url, attempt } = await deps.oidc.start(provider, deps.publicUrl + ssoPath(provider.id, '/callback'))
  const instanceKeys = await deps.keyStore.keyring(instanceScope)
  const pending = { ...attempt, ...start, providerId: provider.id }
  keepAttempt(reply, deps.publicUrl, instanceKeys, pending, deps.wallClock.now())
  return url
}

/** Returns the path to open after the answer of a provider. */
async function finishAttempt(
  deps: SsoDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  providerId: string,
): Promise<string> {
  const instanceKeys = await deps.keyStore.keyring(instanceScope)
  const pending = takeAttempt(request, reply, deps.publicUrl, instanceKeys, deps.wallClock.now())
  if (pending === null || pending.providerId !== providerId) return pageOf('sign-in', 'expired', '/')
  const { purpose, next } = pending
  if (purpose !== 'sign-in' && !(await isStillSignedIn(deps, request, pending)))
    return pageOf('sign-in', 'expired', '/')
  const provider = (await listProviders(deps.db.sql, instanceKeys)).find(({ id }) => id === providerId)
  if (provider === undefined || (purpose === 'sign-in' && !provider.isEnabled)) return pageOf(purpose, 'failed', next)
  const query = request.url.includes('?') ? request.url.slice(request.url.indexOf('?')) : ''
  const answer = new URL(deps.publicUrl + ssoPath(providerId, '/callback') + query)
  try {
    const claims = await deps.oidc.finish(provider, answer, pending)
    return await finish[purpose]({ deps, request, reply, provider, instanceKeys, pending, claims })
  } catch (error) {
    if (!(error instanceof SsoFailure)) throw error
    await recordRefusal(deps, providerId, error.reason, error.message)
    if (purpose === 'test') await saveFailedTest(deps, instanceKeys, providerId, error.message)
    return pageOf(purpose, error.reason, next)
  }
}

/** Links and tests belong to the session that began them: another person may use the browser meanwhile. */
async function isStillSignedIn(deps: SsoDeps, request: FastifyRequest, { userId }: PendingAttempt): Promise<boolean> {
  const session = await findSession(deps, visitorOf(deps, request).sessionToken, deps.wallClock.now())
  return session !== undefined && session.userId === userId
}

interface Finished {
  deps: SsoDeps
  request: FastifyRequest
  reply: FastifyReply
  provider: Provider
  instanceKeys: Keyring
  pending: PendingAttempt
  claims: Claims
}

const finish: Record<PendingAttempt['purpose'], (finished: Finished) => Promise<string>> = {
  'sign-in': finishSignIn,
  link: finishLink,
  test: finishTest,
}

async function finishSignIn({ deps, request, reply, provider, instanceKeys, pending, claims }: Finished) {
  const identity = readIdentity(instanceKeys, provider, claims)
  const { sid } = claims
  const isNamed = typeof sid === 'string' && sid.length <= 200
  const session = { providerId: provider.id, sid: isNamed ? sidOf(instanceKeys, String(claims.iss), sid) : null }
  const done = await deps.db.tx(async (tx): Promise<{ session: NewSession } | { refusal: Refusal }> => {
    const authorized = await authorizePerson(tx, instanceKeys, provider, identity, deps.clock.now())
    if ('refusal' in authorized) return authorized
    const { userId } = authorized
    const now = deps.wallClock.now()
    await recordAudit(tx, instanceEntry(userActor(userId), 'sso.signed-in', targetOf(provider.id)), now)
    return { session: await completeSignIn(tx, instanceKeys, userId, 'sso', visitorOf(deps, request), now, session) }
  })
  if ('refusal' in done) {
    await recordRefusal(deps, provider.id, done.refusal)
    return pageOf('sign-in', done.refusal, pending.next)
  }
  setSessionCookies(deps, reply, done.session)
  return pending.next
}

async function finishLink({ deps, provider, instanceKeys, pending, claims }: Finished) {
  const { subject } = readIdentity(instanceKeys, provider, claims)
  const { userId } = pending
  if (userId === null) return pageOf('link', 'failed', '/')
  const isLinked = await deps.db.tx(async (tx) => {
    if (!(await linkIdentity(tx, provider.id, subject, userId, deps.clock.now()))) return false
    const entry = instanceEntry(userActor(userId), 'sso.linked', targetOf(provider.id))
    await recordAudit(tx, entry, deps.wallClock.now())
    return true
  })
  return isLinked ? '/profile' : pageOf('link', 'taken', '/')
}

async function finishTest({ deps, provider, instanceKeys, claims }: Finished) {
  const { email, isVerified, groups } = readIdentity(instanceKeys, provider, claims)
  const test = {
    at: deps.wallClock.now().toISOString(),
    problem: null,
    email,
    isVerified: isVerified === true,
    groups: (groups ?? []).slice(0, 100),
  }
  await deps.db.tx((tx) => saveTest(tx, instanceKeys, provider.id, test))
  return testPage
}

function saveFailedTest(deps: SsoDeps, instanceKeys: Keyring, providerId: string, problem: string): Promise<void> {
  const test = { at: deps.wallClock.now().toISOString(), problem, email: null, isVerified: false, groups: [] }
  return deps.db.tx((tx) => saveTest(tx, instanceKeys, providerId, test))
}

/** One entry an hour for each reason: visitors can cause them at will. */
function recordRefusal(deps: SsoDeps, providerId: string, reason: Outcome, problem?: string): Promise<void> {
  const entry = instanceEntry(systemActor, `sso.${reason}`, targetOf(providerId))
  const details = problem === undefined ? {} : { details: { problem: { before: null, after: problem } } }
  return deps.db.tx((tx) => countAudit(tx, { ...entry, ...details }, deps.wallClock.now()))
}

export const targetOf = (providerId: string): string => `sso-provider:${providerId}`

const testPage = '/settings/sso'

/** Returns the page that explains the outcome. */
function pageOf(purpose: PendingAttempt['purpose'], outcome: Outcome, next: string): string {
  if (purpose === 'test') return testPage
  if (purpose === 'link') return `/profile?sso=${outcome}`
  return `/sign-in?sso=${outcome}${next === '/' ? '' : `&next=${encodeURIComponent(next)}`}`
}
