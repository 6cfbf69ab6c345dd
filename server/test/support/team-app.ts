import cookie from '@fastify/cookie'
import type { LightMyRequestResponse } from 'fastify'
import { createTeamGuard, decorateTeamRequests } from '../../src/access/credentials/team-guard.ts'
import { csrfTokenOf } from '../../src/access/sign-in/csrf.ts'
import { startSession } from '../../src/access/sign-in/sessions.ts'
import { type AccessDeps, accessTeamRoutes } from '../../src/access/team-routes.ts'
import { addMember } from '../../src/access/users/members.ts'
import { createPasswords } from '../../src/access/users/passwords.ts'
import type { TeamDeps } from '../../src/access/users/team-deps.ts'
import { createUser } from '../../src/access/users/users.ts'
import { type ManualClock, manualClock } from '../../src/base/clock.ts'
import type { Db } from '../../src/base/db.ts'
import { createLog } from '../../src/base/log.ts'
import type { App } from '../../src/base/route.ts'
import { instanceScope, openVault } from '../../src/base/sealing/vault.ts'
import { describeApi } from '../../src/http/contract/openapi.ts'
import { createServer } from '../../src/http/server/server.ts'
import { siteRoutes } from '../../src/http/site/site.ts'
import type { Role } from '../../src/team/member.ts'
import { createWorkspace } from '../../src/workspace/create.ts'
import { workspaceTeamRoutes } from '../../src/workspace/team-routes.ts'
import { checkAnswers } from './contract/contract.ts'
import { cheapPasswords } from './world.ts'

export const publicUrl = 'http://parley.test'
export const operatorToken = 'an-operator-token-of-the-environment'
export const password = 'four plain words together'

export interface TeamWorld {
  app: App
  deps: TeamDeps
  clock: ManualClock
  /** A user with `password`, signed in. */
  user(options?: { isOperator?: boolean; email?: string }): Promise<SignedIn>
  workspace(): Promise<string>
  /** A workspace with one signed-in member of each role. */
  team(): Promise<Record<Role, SignedIn> & { workspaceId: string }>
  join(workspaceId: string, role: Role): Promise<SignedIn>
  /** Sends as the user's browser would, or with a bearer token. */
  send(as: SignedIn | string | null, method: Method, path: string, body?: object): Promise<LightMyRequestResponse>
}

export interface SignedIn {
  userId: string
  email: string
  sessionToken: string
}

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

let emails = 0

/** The team API on a database, with cheap passwords and a clock to drive. */
interface TeamWorldOptions {
  publicUrl?: string
  /** What sessions go by; `clock` unless given. */
  wallClock?: ManualClock
  /** What other rooms do when a key or a member goes; nothing unless given. */
  access?: Partial<AccessDeps>
}

export async function teamWorld(db: Db, options: TeamWorldOptions = {}): Promise<TeamWorld> {
  const clock = manualClock(new Date('2026-03-02T12:00:00.000Z'))
  const vault = openVault(db, { current: Buffer.alloc(32, 7) }, clock)
  await vault.ensureInstanceSecrets()
  const deps: TeamDeps = {
    db,
    vault,
    clock,
    wallClock: options.wallClock ?? clock,
    sessionIdleMs: 14 * 24 * 3_600_000,
    passwords: createPasswords(cheapPasswords),
    publicUrl: options.publicUrl ?? publicUrl,
    addressOf: (request) => request.headers['x-test-address']?.toString() ?? '192.0.2.1',
  }
  const app = await teamApp(deps, options.access)
  const passwordHash = await deps.passwords.hash(password)

  const user: TeamWorld['user'] = async ({ isOperator = false, email = `user-${++emails}@example.com` } = {}) => {
    const keys = await vault.keyring(instanceScope)
    const now = clock.now()
    return db.tx(async (tx) => {
      const userId = await createUser(tx, keys, { name: 'Ana Lima', email, passwordHash, isOperator }, now)
      const start = { userId, signedInBy: 'password', device: 'Firefox', previousToken: null } as const
      const { token } = await startSession(tx, start, now)
      return { userId, email, sessionToken: token }
    })
  }
  const workspace = async () => {
    const createdBy = { type: 'system', id: null } as const
    return (await createWorkspace(deps, { name: 'Acme', ownerId: null, createdBy })).id
  }
  const join: TeamWorld['join'] = async (workspaceId, role) => {
    const joined = await user()
    await db.tx((tx) => addMember(tx, workspaceId, joined.userId, role, clock.now()))
    return joined
  }
  const team = async () => {
    const workspaceId = await workspace()
    return {
      workspaceId,
      owner: await join(workspaceId, 'owner'),
      admin: await join(workspaceId, 'admin'),
      member: await join(workspaceId, 'member'),
    }
  }
  const send: TeamWorld['send'] = (as, method, path, body) =>
    app.inject({
      method,
      url: `/api/team/v1${path}`,
      headers: credentialsOf(as),
      ...(body === undefined ? {} : { payload: body }),
    })
  return { app, deps, clock, user, workspace, team, join, send }
}

export function cookieOf(sessionToken: string): string {
  return `parley_session=${sessionToken}`
}

/** The session that an answer put into the browser. */
export function sessionIn(answer: LightMyRequestResponse): string | undefined {
  return answer.cookies.find((one) => one.name.endsWith('parley_session') && one.value !== '')?.value
}

function credentialsOf(as: SignedIn | string | null): Record<string, string> {
  if (as === null) return {}
  if (typeof as === 'string') return { authorization: `Bearer ${as}` }
  const { sessionToken } = as
  return { cookie: cookieOf(sessionToken), origin: publicUrl, 'x-parley-csrf': csrfTokenOf(sessionToken) }
}

async function teamApp(deps: TeamDeps, others: Partial<AccessDeps> = {}): Promise<App> {
  const app = createServer({ log: createLog('silent'), clock: deps.clock })
  checkAnswers(app)
  await describeApi(app)
  await app.register(cookie)
  decorateTeamRequests(app)
  const guard = createTeamGuard({ ...deps, teamToken: operatorToken })
  const access: AccessDeps = {
    ...deps,
    forgetKey: () => {},
    keyStopped: async () => {},
    keyNarrowed: async () => {},
    lastCalls: async () => [],
    strangeConnections: async () => [],
    webhooksOf: async () => [],
    disableWebhooksOf: async () => 0,
    ...others,
  }
  accessTeamRoutes(app, access, guard)
  workspaceTeamRoutes(app, deps, guard)
  await siteRoutes(app, deps)
  return app
}
