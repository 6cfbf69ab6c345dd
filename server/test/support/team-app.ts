import type { LightMyRequestResponse } from 'fastify'
import { startSession } from '../../src/auth/sign-in/sessions.ts'
import { csrfTokenOf } from '../../src/auth/sign-in/visitor.ts'
import { addMember } from '../../src/auth/users/members.ts'
import { createPasswords } from '../../src/auth/users/passwords.ts'
import { createUser } from '../../src/auth/users/users.ts'
import { instanceScope } from '../../src/base/encryption/key-store.ts'
import type { Role } from '../../src/team/member.ts'
import { createWorkspace } from '../../src/workspaces/change.ts'
import { cheapPasswords, testApp, testTeamToken } from './world.ts'

export const publicUrl = 'http://127.0.0.1:7007'
export const operatorToken = testTeamToken
export const password = 'four plain words together'

export interface SignedIn {
  userId: string
  email: string
  sessionToken: string
}

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

let emails = 0

/** Starts the service with users, workspaces and members. */
export async function teamWorld() {
  const test = await testApp()
  const { app, db, keyStore, clock } = test
  const passwordHash = await createPasswords(cheapPasswords).hash(password)
  const keys = await keyStore.keyring(instanceScope)

  /** Creates a signed-in user with `password`. */
  const user = async (options: { isOperator?: boolean; email?: string } = {}): Promise<SignedIn> => {
    const { isOperator = false, email = `user-${++emails}@example.com` } = options
    return db.tx(async (tx) => {
      const userId = await createUser(tx, keys, { name: 'Ana Lima', email, passwordHash, isOperator }, clock.now())
      const start = { userId, signedInBy: 'password', device: 'Firefox', previousToken: null } as const
      const { token } = await startSession(tx, start, clock.now())
      return { userId, email, sessionToken: token }
    })
  }
  const join = async (workspaceId: string, role: Role) => {
    const joined = await user()
    await db.tx((tx) => addMember(tx, workspaceId, joined.userId, role, clock.now()))
    return joined
  }
  /** Creates a workspace with one signed-in member of each role. */
  const team = async () => {
    const createdBy = { type: 'system', id: null } as const
    const { id } = await createWorkspace(test, { name: 'Acme', ownerId: null, createdBy })
    const [owner, admin] = [await join(id, 'owner'), await join(id, 'admin')]
    return { workspaceId: id, owner, admin, member: await join(id, 'member') }
  }
  /** Sends a request as the user's browser would, or with a bearer token. */
  const send = (as: SignedIn | string | null, method: Method, path: string, body?: object) =>
    app.inject({
      method,
      url: `/api/team/v1${path}`,
      headers: credentialsOf(as),
      ...(body === undefined ? {} : { payload: body }),
    })
  return { ...test, user, team, join, send }
}

export function cookieOf(sessionToken: string): string {
  return `parley_session=${sessionToken}`
}

/** Returns the session cookie set by an answer. */
export function sessionIn(answer: LightMyRequestResponse): string | undefined {
  return answer.cookies.find((one) => one.name.endsWith('parley_session') && one.value !== '')?.value
}

function credentialsOf(as: SignedIn | string | null): Record<string, string> {
  if (as === null) return {}
  if (typeof as === 'string') return { authorization: `Bearer ${as}` }
  const { sessionToken } = as
  return { cookie: cookieOf(sessionToken), origin: publicUrl, 'x-parley-csrf': csrfTokenOf(sessionToken) }
}
