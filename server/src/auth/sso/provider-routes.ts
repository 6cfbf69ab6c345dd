import { domainToASCII } from 'node:url'
import { type Static, Type } from 'typebox'
import type { Tx } from '../../base/db.ts'
import { instanceScope } from '../../base/encryption/key-store.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { createToken, hashToken } from '../../base/encryption/secret-token.ts'
import { conflict, invalid, notFound, unavailable } from '../../base/errors.ts'
import type { Outgoing } from '../../base/outgoing/guarded-fetch.ts'
import { type App, timestamp, titled } from '../../base/route.ts'
import { count, text } from '../../base/schema-types.ts'
import { withIsoTimes } from '../../base/time.ts'
import { instanceEntry, recordAudit } from '../../team/audit.ts'
import { signedInUser, type TeamActor, type TeamCaller, type TeamGuard } from '../../team/member.ts'
import { type TeamApi, teamApi } from '../../team/team-api.ts'
import { closed, emailSchema, idSchema, personNameSchema } from '../../team/team-schema.ts'
import { endLocalSessions } from '../providers/forced.ts'
import { listProviders, maxProviders, type Provider, requireProvider, saveProvider } from '../providers/provider.ts'
import { type ProviderSettings, providerInput, providerSchema } from '../providers/provider-schema.ts'
import { endSessionsWhere } from '../sign-in/sessions.ts'
import { decryptPerson, findUser, findUserByEmail } from '../users/users.ts'
import { enableUser } from './access.ts'
import { SsoFailure } from './oidc.ts'
import { type SsoDeps, ssoPath, startAttempt, targetOf } from './sso-routes.ts'

export interface ProviderDeps extends SsoDeps {
  outgoing: Pick<Outgoing, 'refusal'>
}

const path = '/api/team/v1/identity-providers'
const params = Type.Object({ providerId: idSchema('The provider.') })
const one = Type.Object({ provider: providerSchema })

/** Adds the routes with which operators configure single sign-on. */
export function providerTeamRoutes(app: App, deps: ProviderDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Single sign-on')
  api.get(path, 'operator', {
    operationId: 'listIdentityProviders',
    summary: 'List identity providers',
    description: 'For operators. Client secrets are never returned.',
    answers: { 200: Type.Object({ providers: Type.Array(providerSchema, { maxItems: maxProviders }) }) },
    run: async () => {
      const providers = await deps.keyStore.withKeyring(instanceScope, (keys) => listProviders(deps.db.sql, keys))
      return { providers: providers.map((provider) => present(deps, provider)) }
    },
  })
  api.put(`${path}/:providerId`, 'operator', {
    operationId: 'saveIdentityProvider',
    summary: 'Add or change an identity provider',
    description:
      'For operators. Choose a new UUID to add one: its addresses contain it, so they are known before. Another issuer, client or secret voids the test sign-in.',
    params,
    body: providerInput,
    answers: { 200: one },
    errors: [409],
    run: async ({ caller, params, body }) => ({
      provider: present(deps, await save(deps, caller.actor, params.providerId.toLowerCase(), body)),
    }),
  })
  api.delete(`${path}/:providerId`, 'operator', {
    operationId: 'deleteIdentityProvider',
    summary: 'Remove an identity provider',
    description:
      'For operators. Ends the sessions that began with it and forgets its identities and SCIM resources. Accounts and memberships stay. 409 while sign-on with it is forced.',
    params,
    errors: [404, 409],
    run: ({ caller, params }) => change(deps, caller.actor, params.providerId, 'removed', removeProvider),
  })
  switchRoutes(api, deps)
  scimTokenRoutes(api, deps)
  disabledUserRoutes(api, deps)
}

function present({ publicUrl }: ProviderDeps, { id, settings, test, isEnabled, isForced, scimTokenAt }: Provider) {
  const { clientSecret: _, ...shown } = settings
  return {
    id,
    ...{ ...shown, isEnabled, isForced, test },
    scimTokenAt: scimTokenAt?.toISOString() ?? null,
    redirectUri: publicUrl + ssoPath(id, '/callback'),
    logoutUri: publicUrl + ssoPath(id, '/logout'),
    startUri: publicUrl + ssoPath(id),
  }
}

async function save(deps: ProviderDeps, actor: TeamActor, id: string, input: Static<typeof providerInput>) {
  const { clientSecret, isEnabled, ...rest } = input
  const domains = [...new Set(rest.domains.map(readDomain))]
  const problem = deps.outgoing.refusal(rest.issuer)
  if (problem !== null) throw invalid('issuer', problem)
  if (rest.linksByEmail && domains.length === 0) {
    throw invalid('domains', 'must name the domains whose addresses link accounts')
  }
  return deps.keyStore.withKeyring(instanceScope, (keys) =>
    deps.db.tx(async (tx) => {
      await tx`select pg_advisory_xact_lock(hashtextextended('sso providers', 0))`
      const providers = await listProviders(tx, keys)
      const before = providers.find((provider) => provider.id === id)
      if (before === undefined && providers.length >= maxProviders) {
        throw conflict(`There can be ${maxProviders} identity providers`)
      }
      const secret = clientSecret ?? before?.settings.clientSecret
      if (secret === undefined) throw invalid('clientSecret', 'is required')
      if (before?.isForced && !isEnabled) throw switchForcedOff()
      const settings = { ...rest, name: rest.name.trim(), domains, clientSecret: secret }
      await refuseUnknown(tx, settings)
      if (before?.isForced && settings.breakGlass.length === 0) throw invalid('breakGlass', 'must name an operator')
      await saveProvider(
        tx,
        keys,
        id,
        { settings, isEnabled, isSameClient: isSameClient(before, settings) },
        deps.clock.now(),
      )
      await record(deps, tx, actor, before === undefined ? 'added' : 'changed', id)
      return requireProvider(tx, keys, id)
    }),
  )
}

function readDomain(text: string, at: number): string {
  const domain = domainToASCII(text.trim().replace(/^@/, '')).toLowerCase()
  if (!/^[a-z0-9.-]+\.[a-z0-9-]+$/.test(domain)) throw invalid(`domains[${at}]`, 'must be a domain such as example.com')
  return domain
}

function isSameClient(before: Provider | undefined, { issuer, clientId, clientSecret }: ProviderSettings): boolean {
  const same = before?.settings
  return same?.issuer === issuer && same.clientId === clientId && same.clientSecret === clientSecret
}

async function refuseUnknown(tx: Tx, { access, breakGlass }: ProviderSettings): Promise<void> {
  const known = await tx<{ id: string }[]>`
    select id
    from workspaces
    where id = any (${access.map(({ workspaceId }) => workspaceId)}::uuid[])`
  for (const [at, { workspaceId }] of access.entries()) {
    if (known.every(({ id }) => id !== workspaceId.toLowerCase())) {
      throw invalid(`access[${at}].workspaceId`, 'must be the id of a workspace')
    }
  }
  for (const [at, userId] of breakGlass.entries()) {
    const user = await findUser(tx, userId)
    if (!user?.is_operator) throw invalid(`breakGlass[${at}]`, 'must be the id of an operator')
  }
}

const switchForcedOff = () => conflict('Switch forced sign-on off first')

const record = (deps: ProviderDeps, tx: Tx, actor: TeamActor, what: string, id: string) =>
  recordAudit(tx, instanceEntry(actor, `sso-provider.${what}`, targetOf(id)), deps.wallClock.now())

/** Changes an existing provider and records it. */
async function change<T>(
  deps: ProviderDeps,
  actor: TeamActor,
  id: string,
  what: string,
  work: (tx: Tx, provider: Provider, keys: Keyring) => Promise<T>,
): Promise<T> {
  return deps.keyStore.withKeyring(instanceScope, (keys) =>
    deps.db.tx(async (tx) => {
      await tx`select pg_advisory_xact_lock(hashtextextended('sso providers', 0))`
      const result = await work(tx, await requireProvider(tx, keys, id), keys)
      await record(deps, tx, actor, what, id)
      return result
    }),
  )
}

async function removeProvider(tx: Tx, { id, isForced }: Provider): Promise<void> {
  if (isForced) throw switchForcedOff()
  await endSessionsWhere(tx, tx`sso_provider_id = ${id}`)
  await tx`delete from scim_members where member_id in (select id from scim_users where provider_id = ${id})`
  await tx`delete from scim_groups where provider_id = ${id}`
  await tx`delete from scim_users where provider_id = ${id}`
  await tx`delete from sso_identities where provider_id = ${id}`
  await tx`delete from sso_logouts where provider_id = ${id}`
  await tx`delete from sso_providers where id = ${id}`
}

function switchRoutes(api: TeamApi, deps: ProviderDeps): void {
  api.post(`${path}/:providerId/test`, 'operator', {
    operationId: 'testIdentityProvider',
    summary: 'Test an identity provider',
    description:
      'For signed-in operators. Returns an address to open in the same browser within ten minutes. The sign-in changes no session or account; its result is part of the provider afterwards.',
    params,
    answers: {
      200: Type.Object({ url: text(8000, 'Page of the provider.', { example: 'https://sso.example.com/…' }) }),
    },
    errors: [404, 503],
    run: async ({ caller, params, reply }) => ({ url: await startFor(deps, caller, reply, params.providerId, 'test') }),
  })
  api.post(`${path}/:providerId/forced`, 'operator', {
    operationId: 'forceIdentityProvider',
    summary: 'Force single sign-on',
    description:
      'For operators. Passwords, sign-in links and new accounts by invitation are then refused for people of its domains, and their other sessions end. 409 without a successful test, or without an operator in `breakGlass` who has a password and two-factor sign-in.',
    params,
    body: Type.Object(
      { isForced: Type.Boolean({ description: 'Whether it is the only way in.', example: true }) },
      { ...closed, example: { isForced: true } },
    ),
    answers: { 200: Type.Object({ ended: count('Number of sessions ended.', { example: 3 }) }) },
    errors: [404, 409],
    run: async ({ caller, params, body }) => {
      const { isForced } = body
      const ended = await change(
        deps,
        caller.actor,
        params.providerId,
        isForced ? 'forced' : 'unforced',
        async (tx, provider, keys) => {
          if (isForced) await refuseUntested(tx, provider)
          await tx`
          update sso_providers
          set is_forced = ${isForced}
          where id = ${provider.id}`
          return isForced ? endLocalSessions(tx, keys, provider) : 0
        },
      )
      return { ended }
    },
  })
}

/** An operator who forces sign-on without these could lock everybody out. */
async function refuseUntested(tx: Tx, { settings, test, isEnabled }: Provider): Promise<void> {
  if (!isEnabled) throw conflict('Enable the provider first')
  if (test === null || test.problem !== null) throw conflict('Run a successful test sign-in first')
  const operators = await Promise.all(settings.breakGlass.map((id) => findUser(tx, id)))
  const canEnter = operators.some(
    (user) => user?.is_operator && user.password_hash !== null && user.totp_confirmed_at !== null,
  )
  if (!canEnter) {
    throw conflict('Name an operator for emergencies who has a password and two-factor sign-in', {
      field: 'breakGlass',
    })
  }
}

/** Begins a visit for the signed-in person. Returns the address to open. */
export async function startFor(
  deps: SsoDeps,
  caller: TeamCaller,
  reply: Parameters<typeof startAttempt>[1],
  providerId: string,
  purpose: 'link' | 'test',
): Promise<string> {
  const { userId } = signedInUser(caller)
  const provider = await deps.keyStore.withKeyring(instanceScope, (keys) =>
    requireProvider(deps.db.sql, keys, providerId),
  )
  try {
    return await startAttempt(deps, reply, provider, { purpose, userId, next: '/' })
  } catch (error) {
    if (error instanceof SsoFailure) throw unavailable(`The sign-in cannot start: ${error.message}`)
    throw error
  }
}

function scimTokenRoutes(api: TeamApi, deps: ProviderDeps): void {
  api.post(`${path}/:providerId/scim-token`, 'operator', {
    operationId: 'createScimToken',
    summary: 'Create a SCIM token',
    description: 'For operators. Replaces the former token, which stops working. Shown only once, in this response.',
    params,
    answers: { 201: Type.Object({ value: text(100, 'Bearer token of `/scim/v2`.', { example: 'pls_…' }) }) },
    errors: [404],
    run: async ({ caller, params }) => {
      const value = `pls_${createToken()}`
      await setScimToken(deps, caller.actor, params.providerId, hashToken(value))
      return { value }
    },
  })
  api.delete(`${path}/:providerId/scim-token`, 'operator', {
    operationId: 'deleteScimToken',
    summary: 'Revoke the SCIM token',
    description: 'For operators. Accounts that were provisioned stay.',
    params,
    errors: [404],
    run: ({ caller, params }) => setScimToken(deps, caller.actor, params.providerId, null),
  })
}

function setScimToken(deps: ProviderDeps, actor: TeamActor, id: string, hash: Buffer | null): Promise<void> {
  const what = hash === null ? 'scim-token-revoked' : 'scim-token-created'
  return change(deps, actor, id, what, async (tx, provider) => {
    await tx`
      update sso_providers
      set scim_token_hash = ${hash},
        scim_token_at = ${hash === null ? null : deps.clock.now()}
      where id = ${provider.id}`
  })
}

const maxListed = 500

const disabledUser = titled('DisabledUser', {
  id: idSchema('The account.'),
  name: personNameSchema,
  email: emailSchema,
  disabledAt: timestamp('When it was switched off.'),
})

/** Adds the routes with which operators see accounts that are switched off, and switch them on again. */
function disabledUserRoutes(api: TeamApi, { db, keyStore, wallClock }: ProviderDeps): void {
  api.get('/api/team/v1/users/disabled', 'operator', {
    operationId: 'listDisabledUsers',
    summary: 'List accounts that are switched off',
    description: `For operators. The newest ${maxListed} that providers switched off by SCIM.`,
    answers: { 200: Type.Object({ users: Type.Array(disabledUser, { maxItems: maxListed }) }) },
    run: async () => {
      const rows = await db.sql<{ id: string; person: Buffer; disabledAt: Date }[]>`
        select id, person, disabled_at as "disabledAt"
        from users
        where disabled_at is not null
        order by disabled_at desc, id
        limit ${maxListed}`
      const users = await keyStore.withKeyring(instanceScope, (keys) =>
        rows.map(({ person, ...row }) => ({ ...withIsoTimes(row), ...decryptPerson(keys, row.id, person) })),
      )
      return { users }
    },
  })
  api.post('/api/team/v1/users/enable', 'operator', {
    operationId: 'enableUser',
    summary: 'Switch an account on again',
    description: 'For operators. For an account that a provider switched off by SCIM. It gets no workspace back.',
    body: Type.Object({ email: emailSchema }, closed),
    errors: [404],
    run: async ({ caller, body }) => {
      const keys = await keyStore.keyring(instanceScope)
      await db.tx(async (tx) => {
        const user = await findUserByEmail(tx, keys, body.email)
        if (user === undefined) throw notFound('No user has this e-mail')
        await enableUser(tx, user.id)
        await recordAudit(tx, instanceEntry(caller.actor, 'user.enabled', `user:${user.id}`), wallClock.now())
      })
    },
  })
}
