import { Type } from 'typebox'
import { instanceScope } from '../../base/encryption/key-store.ts'
import { conflict, notFound } from '../../base/errors.ts'
import { type App, timestamp, titled } from '../../base/route.ts'
import { text } from '../../base/schema-types.ts'
import { withIsoTimes } from '../../base/time.ts'
import { instanceEntry, recordAudit } from '../../team/audit.ts'
import { signedInUser, type TeamGuard } from '../../team/member.ts'
import { teamApi } from '../../team/team-api.ts'
import { closed, emailSchema, idSchema } from '../../team/team-schema.ts'
import { reauthenticate } from '../account/profile.ts'
import { domainOf, listProviders, maxProviders } from '../providers/provider.ts'
import { reauthenticationFields } from '../sign-in/sessions.ts'
import { visitorOf } from '../sign-in/visitor.ts'
import { findUser } from '../users/users.ts'
import { startFor } from './provider-routes.ts'
import { type SsoDeps, targetOf } from './sso-routes.ts'

const providerName = text(60, 'Name of the provider.', { example: 'Acme' })
const choice = titled('SignInProvider', { id: idSchema('The provider.'), name: providerName })
const choices = Type.Array(choice, { maxItems: maxProviders })

const linked = titled('LinkedIdentity', {
  providerId: idSchema('The provider.'),
  name: providerName,
  linkedAt: timestamp('When it was linked.'),
  lastUsedAt: timestamp('Last sign-in with it.'),
})

/** Adds the routes with which people choose a provider, and link their account. */
export function identityTeamRoutes(app: App, deps: SsoDeps, guard: TeamGuard): void {
  choiceRoute(app, deps, guard)
  linkRoutes(app, deps, guard)
}

function choiceRoute(app: App, deps: SsoDeps, guard: TeamGuard): void {
  teamApi(app, guard, 'Sign-in').post('/api/team/v1/sign-in/providers', 'visitor', {
    operationId: 'findSignInProviders',
    summary: 'Find the identity providers of an e-mail address',
    description:
      'For the sign-in page: open `/sso/{id}` of one of them. With several providers, those with domains are returned only for an address of theirs, so that visitors do not learn who uses the service.',
    body: Type.Object({ email: Type.Optional(emailSchema) }, { ...closed, example: { email: 'ana@example.com' } }),
    answers: {
      200: Type.Object({
        providers: choices,
        hasMore: Type.Boolean({ description: 'Whether there are others for other addresses.', example: false }),
      }),
    },
    allErrors: [400, 403, 413, 415],
    run: async ({ body: { email } }) => {
      const all = await deps.keyStore.withKeyring(instanceScope, (keys) => listProviders(deps.db.sql, keys))
      const enabled = all.filter(({ isEnabled }) => isEnabled)
      const domain = email === undefined ? null : domainOf(email)
      const fitting = enabled.filter(
        ({ settings: { domains } }) =>
          domains.length === 0 || (domain === null ? enabled.length === 1 : domains.includes(domain)),
      )
      const providers = fitting.map(({ id, settings: { name } }) => ({ id, name }))
      return { providers, hasMore: fitting.length < enabled.length }
    },
  })
}

function linkRoutes(app: App, deps: SsoDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Profile')
  const path = '/api/team/v1/me/identities'
  api.get(path, 'signed-in', {
    operationId: 'listMyIdentities',
    summary: 'List my identities at identity providers',
    description: 'Returns those that are linked, and the providers that can be.',
    answers: { 200: Type.Object({ identities: Type.Array(linked, { maxItems: maxProviders }), others: choices }) },
    run: async ({ caller }) => {
      const { userId } = signedInUser(caller)
      const all = await deps.keyStore.withKeyring(instanceScope, (keys) => listProviders(deps.db.sql, keys))
      const rows = await deps.db.sql<{ providerId: string; linkedAt: Date; lastUsedAt: Date }[]>`
        select provider_id as "providerId", created_at as "linkedAt", last_used_at as "lastUsedAt"
        from sso_identities
        where user_id = ${userId}`
      const identities = all.flatMap(({ id, settings: { name } }) => {
        const row = rows.find(({ providerId }) => providerId === id)
        return row === undefined ? [] : [{ ...withIsoTimes(row), name }]
      })
      const others = all.filter(({ id, isEnabled }) => isEnabled && rows.every(({ providerId }) => providerId !== id))
      return { identities, others: others.map(({ id, settings: { name } }) => ({ id, name })) }
    },
  })
  api.post(path, 'signed-in', {
    operationId: 'linkIdentity',
    summary: 'Link my account to an identity provider',
    description:
      'Requires the password, and a code if you use two-factor sign-in. Returns an address to open in the same browser within ten minutes.',
    body: Type.Object({ providerId: idSchema('The provider.'), ...reauthenticationFields }, closed),
    answers: {
      200: Type.Object({ url: text(8000, 'Page of the provider.', { example: 'https://sso.example.com/…' }) }),
    },
    errors: [404, 409, 429, 503],
    run: async ({ caller, body: { providerId, ...proof }, request, reply }) => {
      signedInUser(caller)
      await reauthenticate(deps, visitorOf(deps, request), caller, proof)
      return { url: await startFor(deps, caller, reply, providerId, 'link') }
    },
  })
  api.delete(`${path}/:providerId`, 'signed-in', {
    operationId: 'unlinkIdentity',
    summary: 'Unlink my account from an identity provider',
    description: '409 if you have no password: you could not sign in again.',
    params: Type.Object({ providerId: idSchema('The provider.') }),
    errors: [404, 409],
    run: async ({ caller, params: { providerId } }) => {
      const { userId } = signedInUser(caller)
      await deps.db.tx(async (tx) => {
        const user = await findUser(tx, userId)
        if (user?.password_hash == null) throw conflict('You have no password yet. Set one first.')
        const removed = await tx`
          delete from sso_identities
          where provider_id = ${providerId}
            and user_id = ${userId}`
        if (removed.count === 0) throw notFound('Identity not found')
        await recordAudit(tx, instanceEntry(caller.actor, 'sso.unlinked', targetOf(providerId)), deps.wallClock.now())
      })
    },
  })
}
