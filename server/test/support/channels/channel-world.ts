import { randomBytes, randomUUID } from 'node:crypto'
import { manualClock } from '../../../src/base/clock.ts'
import { openKeyStore } from '../../../src/base/encryption/key-store.ts'
import { forbidden } from '../../../src/base/errors.ts'
import { createLog } from '../../../src/base/log.ts'
import { openAdapters } from '../../../src/channels/adapters.ts'
import { createCallbackConnectionCache } from '../../../src/channels/callback-connections.ts'
import type { ChannelEvent } from '../../../src/channels/channel-event.ts'
import { createConnection } from '../../../src/channels/connection/change-connection.ts'
import type { Connection } from '../../../src/channels/connection/connection.ts'
import { channelTeamRoutes } from '../../../src/channels/connection/connection-routes.ts'
import { findConnection } from '../../../src/channels/connection/queries.ts'
import type { NewPartner } from '../../../src/channels/partner/settings.ts'
import type { NewWaba } from '../../../src/channels/waba/settings.ts'
import { registerOpenApi } from '../../../src/http/contract/openapi.ts'
import { createServer } from '../../../src/http/server/server.ts'
import { type Member, type Role, roleCovers, type TeamGuard } from '../../../src/team/member.ts'
import { checkAnswers } from '../contract/contract.ts'
import { testDatabase } from '../database.ts'
import { openTestOutgoing } from '../outgoing/outgoing.ts'

export const appSecret = 'an-app-secret-of-16'
export const partnerKey = 'a-partner-key-of-24-char'

export type ChannelWorld = Awaited<ReturnType<typeof channelWorld>>

/** Platform whose number check always succeeds. */
export const validNumberCheck = {
  checkNumber: async ({ numberId }: Connection) => ({ problem: null, number: numberId, isOnPhone: false }),
}

const masterKey = randomBytes(32)
let numbers = 0

/** Creates a workspace with the routes of channels. Without `baseUrl`, the platform's number check always succeeds. */
export async function channelWorld(baseUrl?: string, publicUrl = 'https://parley.example') {
  const { db } = await testDatabase()
  const clock = manualClock(new Date('2026-03-01T12:00:00.000Z'))
  const keyStore = openKeyStore(db, { current: masterKey }, clock)
  const workspaceId = randomUUID()
  await db.tx(async (tx) => {
    await tx`
      insert into workspaces (id, name, created_at, updated_at)
      values (${workspaceId}, 'Test', ${clock.now()}, ${clock.now()})`
    await keyStore.createSecrets(tx, workspaceId)
  })
  const lines: string[] = []
  const log = createLog('debug', { write: (line: string) => lines.push(line) })
  const outgoing = openTestOutgoing()
  const adapters = openAdapters({ outgoing, clock, db, keyStore }, publicUrl)
  if (baseUrl === undefined) adapters.waba = { ...adapters.waba, ...validNumberCheck }
  const deps = { db, keyStore, clock, log, publicUrl, simulatorUrl: null, outgoing, adapters }
  const userId = randomUUID()
  const member = { userId, workspaceId, name: 'Test', actor: { type: 'user', id: userId }, role: 'admin' } as Member
  const app = createServer({ log, clock })
  await registerOpenApi(app)
  checkAnswers(app)
  const guard = {
    member: (minRole: Role) => async (one: RoleRequest) => setMember(one, member, minRole),
  } as unknown as TeamGuard
  channelTeamRoutes(app, deps, guard)
  const at = baseUrl === undefined ? {} : { baseUrl }
  const world = {
    ...{ app, clock, keyStore, deps, member, workspaceId, lines },
    /** Deliveries to the inbox, in order. */
    received: [] as { connection: Connection; events: ChannelEvent[] }[],
    /** Runs before a delivery is recorded. */
    onReceive: async (): Promise<void> => {},
    connect: (input: Partial<NewWaba> = {}) =>
      createConnection(deps, member, {
        ...{ channel: 'waba', name: 'Sales', numberId: `7001${Date.now()}${++numbers}` },
        ...{ accountId: `9008${randomBytes(4).readUInt32BE()}`, accessToken: 'an-access-token-of-24-chars', appSecret },
        ...at,
        ...input,
      }),
    connectPartner: (input: Partial<NewPartner> = {}) =>
      createConnection(deps, member, {
        ...{ channel: 'partner', profile: '360dialog', name: 'Partner', numberId: `7002${Date.now()}${++numbers}` },
        ...{ apiKey: partnerKey, ...at, ...input },
      }),
    find: async (id: string) => findConnection(db.sql, await keyStore.keyring(workspaceId), workspaceId, id),
    call: (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path = '', body?: object, role = 'admin') =>
      app.inject({
        method,
        url: `/api/team/v1/workspaces/${workspaceId}/connections${path}`,
        headers: { 'x-role': role },
        ...(body === undefined ? {} : { body }),
      }),
  }
  const receive = async (connection: Connection, events: ChannelEvent[]) => {
    await world.onReceive()
    world.received.push({ connection, events })
  }
  for (const { callbackRoutes } of Object.values(adapters))
    callbackRoutes?.(app, { ...deps, receive, connections: createCallbackConnectionCache(deps) })
  return world
}

type RoleRequest = { member: Member | null; headers: Record<string, string> }

function setMember(request: RoleRequest, member: Member, minRole: Role): void {
  const role = request.headers['x-role'] as Role | 'token'
  if (role !== 'token' && !roleCovers(role, minRole)) throw forbidden(`This needs the role ${minRole}`)
  // A team token has the permissions of an owner, but no user.
  request.member = role === 'token' ? { ...member, userId: null, role: 'owner' } : { ...member, role }
}
