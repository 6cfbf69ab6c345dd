import { Type } from 'typebox'
import { notFound } from '../../base/errors.ts'
import { type App, errors, postman, timestamp } from '../../base/route.ts'
import { text } from '../../base/schema-types.ts'
import { instanceScope } from '../../base/sealing/vault.ts'
import { recordAudit } from '../../team/audit.ts'
import { type TeamGuard, teamCallerOf } from '../../team/member.ts'
import { closed, emailSchema, teamRoute } from '../../team/team-schema.ts'
import { findUserByEmail } from '../people/users.ts'
import type { TeamDeps } from '../team/team-deps.ts'
import { createSignInLink } from './sign-in-link.ts'

/** How an operator helps somebody in who has no password, or has lost it. */
export function signInLinkTeamRoutes(app: App, deps: TeamDeps, guard: TeamGuard): void {
  const url = text(2000, 'Shown only here.', { example: 'https://parley.example.com/sign-in/wK8…' })
  app.route({
    method: 'POST',
    url: '/api/team/v1/sign-in-links',
    onRequest: guard.operator(),
    schema: {
      ...teamRoute('Sign-in'),
      operationId: 'createSignInLink',
      summary: 'Create a sign-in link',
      ...postman({ skip: true }),
      description:
        'For operators. Lets its holder in as this user, once, for 24 hours; a second factor is still asked.',
      body: Type.Object({ email: emailSchema }, closed),
      response: {
        201: Type.Object({ url, expiresAt: timestamp('When it stops working.') }),
        ...errors(400, 401, 403, 404),
      },
    },
    handler: async (request, reply) => {
      const instanceKeys = await deps.vault.keyring(instanceScope)
      const user = await findUserByEmail(deps.db.sql, instanceKeys, request.body.email)
      if (user === undefined) throw notFound('No user has this e-mail. Invite them to a workspace')
      const now = deps.clock.now()
      const link = await deps.db.tx(async (tx) => {
        const { actor } = teamCallerOf(request)
        const target = `user:${user.id}`
        await recordAudit(tx, { scopeId: instanceScope, actor, action: 'sign-in-link.created', target }, now)
        return createSignInLink(tx, deps.publicUrl, user.id, now)
      })
      return reply.code(201).send({ url: link.url, expiresAt: link.expiresAt.toISOString() })
    },
  })
}
