import { Type } from 'typebox'
import { instanceScope } from '../../base/encryption/key-store.ts'
import { notFound } from '../../base/errors.ts'
import { timestamp, titled } from '../../base/route.ts'
import { instanceEntry, recordAudit } from '../../team/audit.ts'
import type { TeamApi } from '../../team/team-api.ts'
import { closed, emailSchema, idSchema, personNameSchema } from '../../team/team-schema.ts'
import { decryptPerson, findUserByEmail, type TeamDeps } from '../users/users.ts'
import { enableUser } from './access.ts'

const maxListed = 500

const disabledUser = titled('DisabledUser', {
  id: idSchema('The account.'),
  name: personNameSchema,
  email: emailSchema,
  disabledAt: timestamp('When it was switched off.'),
})

/** Adds the routes with which operators see accounts that are switched off, and switch them on again. */
export function disabledUserRoutes(api: TeamApi, deps: Pick<TeamDeps, 'db' | 'keyStore' | 'wallClock'>): void {
  const { db, keyStore } = deps
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
        rows.map(({ id, person, disabledAt }) => {
          const { name, email } = decryptPerson(keys, id, person)
          return { id, name, email, disabledAt: disabledAt.toISOString() }
        }),
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
        await recordAudit(tx, instanceEntry(caller.actor, 'user.enabled', `user:${user.id}`), deps.wallClock.now())
      })
    },
  })
}
