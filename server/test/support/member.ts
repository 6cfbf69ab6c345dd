import { startSession } from '../../src/auth/sign-in/sessions.ts'
import { csrfTokenOf } from '../../src/auth/sign-in/visitor.ts'
import { addMember } from '../../src/auth/users/members.ts'
import { createUser } from '../../src/auth/users/users.ts'
import type { Clock } from '../../src/base/clock.ts'
import { instanceScope } from '../../src/base/encryption/key-store.ts'
import type { Role } from '../../src/team/member.ts'
import type { Answer, World } from './world.ts'

export interface TestMember {
  userId: string
  /** Cookie as the member's browser sends it. */
  cookie: string
  /** Cookie, and the headers that changes require. */
  headers: Record<string, string>
  /** Calls the team API of the workspace as the member's browser would. */
  call(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: object,
    more?: Record<string, string>,
  ): Promise<Answer>
}

let emails = 0

/** Creates a signed-in member of the workspace. */
export async function signedInMember(
  w: Pick<World, 'app' | 'db' | 'keyStore' | 'workspaceId' | 'config'> & { clock: Clock },
  role: Role = 'member',
): Promise<TestMember> {
  const { app, db, keyStore, clock, workspaceId, config } = w
  const keys = await keyStore.keyring(instanceScope)
  const now = clock.now()
  const person = { name: 'Ana Lima', email: `member-${++emails}@example.com`, passwordHash: 'none', isOperator: false }
  const { userId, token } = await db.tx(async (tx) => {
    const id = await createUser(tx, keys, person, now)
    await addMember(tx, workspaceId, id, role, now)
    const start = { userId: id, signedInBy: 'password', device: 'Firefox', previousToken: null } as const
    return startSession(tx, start, now)
  })
  const cookie = `parley_session=${token}`
  const headers = {
    cookie,
    origin: config.http.publicUrl,
    'x-parley-csrf': csrfTokenOf(token),
  }
  return {
    userId,
    cookie,
    headers,
    call: async (method, path, body, more = {}) => {
      const reply = await app.inject({
        method,
        url: `/api/team/v1/workspaces/${workspaceId}${path}`,
        headers: { ...headers, ...more },
        ...(body === undefined ? {} : { payload: body }),
      })
      return { status: reply.statusCode, body: reply.json(), headers: reply.headers }
    },
  }
}
