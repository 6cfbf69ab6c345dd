import { randomBytes, randomUUID } from 'node:crypto'
import type { LightMyRequestResponse } from 'fastify'
import { type ManualClock, manualClock } from '../../../src/base/clock.ts'
import { forbidden } from '../../../src/base/errors.ts'
import { createLog } from '../../../src/base/log.ts'
import type { App } from '../../../src/base/route.ts'
import { openVault, type Vault } from '../../../src/base/sealing/vault.ts'
import { openAdapters } from '../../../src/channels/adapters.ts'
import { keepCallbackConnections } from '../../../src/channels/callback-connections.ts'
import type { ChannelEvent } from '../../../src/channels/channel-event.ts'
import { createConnection } from '../../../src/channels/connection/change.ts'
import type { Connection, StoredConnection } from '../../../src/channels/connection/connection.ts'
import { findConnection } from '../../../src/channels/connection/queries.ts'
import { connectionTeamRoutes, type TeamConnectionDeps } from '../../../src/channels/connection/team-routes.ts'
import type { NewPartner } from '../../../src/channels/partner/settings.ts'
import type { SyncDeps } from '../../../src/channels/templates/sync-templates.ts'
import { templateTeamRoutes } from '../../../src/channels/templates/team-routes-templates.ts'
import type { NewWaba } from '../../../src/channels/waba/settings.ts'
import { describeApi } from '../../../src/http/contract/openapi.ts'
import { createServer } from '../../../src/http/server/server.ts'
import { type Member, type Role, roleCovers } from '../../../src/team/member.ts'
import { checkAnswers } from '../contract/contract.ts'
import type { TestDatabase } from '../database.ts'
import { openTestOutgoing } from '../outgoing/outgoing.ts'

const testPublicUrl = 'https://parley.example'
export const appSecret = 'an-app-secret-of-16'
export const partnerKey = 'a-partner-key-of-24-char'

export interface ChannelWorld {
  app: App
  clock: ManualClock
  vault: Vault
  deps: TeamConnectionDeps & SyncDeps
  member: Member
  workspaceId: string
  lines: string[]
  /** What was handed on, in order. */
  received: { connection: Connection; events: ChannelEvent[] }[]
  /** Runs instead of just noting what is handed on. */
  onReceive: (() => Promise<void>) | null
  connect(input?: Partial<NewWaba>): Promise<StoredConnection>
  connectPartner(input?: Partial<NewPartner>): Promise<StoredConnection>
  find(id: string): Promise<StoredConnection | undefined>
  call(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path?: string,
    body?: object,
    role?: string,
  ): Promise<LightMyRequestResponse>
}

/** A platform whose number check always agrees. */
export const agreeing = {
  check: async ({ numberId }: Connection) => ({ problem: null, number: numberId, isOnPhone: false }),
}

const masterKey = randomBytes(32)
let numbers = 0

/** A workspace of its own with the routes of channels; the platform is at `baseUrl`, or its number check always agrees. */
export async function channelWorld(
  { db }: TestDatabase,
  baseUrl?: string,
  publicUrl = testPublicUrl,
): Promise<ChannelWorld> {
  const clock = manualClock(new Date('2026-03-01T12:00:00.000Z'))
  const vault = openVault(db, { current: masterKey }, clock)
  const workspaceId = randomUUID()
  await db.tx(async (tx) => {
    await tx`
      insert into workspaces (id, name, created_at, updated_at)
      values (${workspaceId}, 'Test', ${clock.now()}, ${clock.now()})`
    await vault.createSecrets(tx, workspaceId)
  })
  const lines: string[] = []
  const log = createLog('debug', { write: (line: string) => lines.push(line) })
  const outgoing = openTestOutgoing()
  const adapters = openAdapters({ outgoing, clock, db, vault }, publicUrl)
  const deps = {
    db,
    vault,
    clock,
    log,
    publicUrl,
    simulatorUrl: null,
    outgoing,
    adapters: baseUrl === undefined ? { ...adapters, waba: { ...adapters.waba, ...agreeing } } : adapters,
  }
  const member = memberOf(workspaceId)
  const app = createServer({ log, clock })
  await describeApi(app)
  checkAnswers(app)
  connectionTeamRoutes(app, deps, guardFor(member))
  templateTeamRoutes(app, deps, guardFor(member))
  const world: ChannelWorld = {
    app,
    clock,
    vault,
    deps,
    member,
    workspaceId,
    lines,
    received: [],
    onReceive: null,
    connect: (input = {}) =>
      createConnection(deps, member, {
        channel: 'waba',
        name: 'Sales',
        numberId: `7001${Date.now()}${++numbers}`,
        accountId: `9008${randomBytes(4).readUInt32BE()}`,
        accessToken: 'an-access-token-of-24-chars',
        appSecret,
        ...(baseUrl === undefined ? {} : { baseUrl }),
        ...input,
      }),
    connectPartner: (input = {}) =>
      createConnection(deps, member, {
        channel: 'partner',
        profile: '360dialog',
        name: 'Partner',
        numberId: `7002${Date.now()}${++numbers}`,
        apiKey: partnerKey,
        ...(baseUrl === undefined ? {} : { baseUrl }),
        ...input,
      }),
    find: async (id) => findConnection(db.sql, await vault.keyring(workspaceId), workspaceId, id),
    call: (method, path = '', body, role = 'admin') =>
      app.inject({
        method,
        url: `/api/team/v1/workspaces/${workspaceId}/connections${path}`,
        headers: { 'x-role': role },
        ...(body === undefined ? {} : { body }),
      }),
  }
  const receive = async (connection: Connection, events: ChannelEvent[]) => {
    await world.onReceive?.()
    world.received.push({ connection, events })
  }
  for (const { callbackRoutes } of Object.values(adapters))
    callbackRoutes?.(app, { ...deps, receive, connections: keepCallbackConnections(deps) })
  return world
}

function memberOf(workspaceId: string): Member {
  const userId = randomUUID()
  return {
    userId,
    tokenId: null,
    tokenWorkspaceId: null,
    makerId: null,
    sessionId: null,
    name: 'Test',
    isOperator: false,
    actor: { type: 'user', id: userId },
    workspaceId,
    role: 'admin',
    workspace: { defaultCountry: null, leadsEnabled: true, inboxEnabled: true, inboxAvailable: true },
  }
}

function guardFor(member: Member) {
  return {
    member: (minRole: Role) => async (request: { member: Member | null; headers: Record<string, unknown> }) => {
      const role = request.headers['x-role']
      // A team token acts with the rights of an owner, and is no person.
      if (role === 'token') {
        request.member = { ...member, userId: null, role: 'owner' }
        return
      }
      if (!roleCovers(role as Role, minRole)) throw forbidden(`This needs the role ${minRole}`)
      request.member = { ...member, role: role as Role }
    },
  }
}
