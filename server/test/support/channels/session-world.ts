import { randomUUID } from 'node:crypto'
import { connectorsOf, inboxReceive } from '../../../src/app/inbox.ts'
import { openKeyStore } from '../../../src/base/encryption/key-store.ts'
import type { FileToUpload } from '../../../src/channels/media-transport.ts'
import { sessionConnector } from '../../../src/channels/unofficial/send/connector.ts'
import { waitingTopic } from '../../../src/channels/unofficial/send/sends.ts'
import type { SessionWorkerDeps } from '../../../src/channels/unofficial/session/held-session.ts'
import { createSessionManager, type SessionManager } from '../../../src/channels/unofficial/session/worker.ts'
import { settleStrandedSends } from '../../../src/inbox/send/settle-parts.ts'
import { openNode, testDatabase } from '../database.ts'
import { afterEachTest, atEnd, oncePerFile } from '../file-lifecycle.ts'
import { inboxPath } from '../inbox/inbox-world.ts'
import { untilNotified } from '../until.ts'
import { testApp, testTeamToken, world } from '../world.ts'
import type { Loose } from './rigs.ts'
import { type ScriptedSocket, scriptedNetwork } from './scripted-network.ts'

const running = new Set<() => Promise<void>>()
let isInUse = false
const markInUse = oncePerFile(() => {
  isInUse = true
  atEnd(async () => {
    isInUse = false
  })
})

// Every session manager claims any unclaimed session, so no test leaves one behind.
afterEachTest(async () => {
  if (!isInUse) return
  await Promise.all([...running].map((stop) => stop()))
  running.clear()
  const { db } = await testDatabase()
  await db.sql`update channel_sessions set state = 'stopped', wish = null`
})

let beforeKeyring = async () => {}

export const shopPhone = '5511955501234'
export const customerPhone = '5581991234567'

export type SessionWorld = Awaited<ReturnType<typeof sessionWorld>>

/** File of the team to send over the network. */
export const pictureFile: FileToUpload = {
  ...{ id: 'a-row', kind: 'image', mimeType: 'image/png', name: null, size: 1, seconds: null, waveform: null },
  bytes: async function* () {
    yield Buffer.from('a picture')
  },
}

let phones = 5511955500000

/** Returns a new shop phone number: numbers are unique across the tests of a file. */
export const newShopPhone = (): string => String(++phones)

/** Creates a workspace with an unpaired QR connection, a scripted network, and a session manager driven by the test. */
export async function sessionWorld(own: Partial<SessionWorkerDeps> = {}) {
  markInUse()
  const test = await testApp(({ db, keyStore, clock }) => {
    const pausingKeyring = async (id: string) => {
      await beforeKeyring()
      return keyStore.keyring(id)
    }
    return {
      unofficial: sessionConnector({ db, keyStore: { ...keyStore, keyring: pausingKeyring }, clock, pollMs: 20 }),
    }
  })
  const w = await world({ scopes: ['inbox.read', 'inbox.write'] })
  const { db, call, workspaceId } = w
  const network = scriptedNetwork(w.clock)
  beforeKeyring = async () => {}
  const managerDeps: SessionWorkerDeps = {
    ...test,
    receive: inboxReceive(test),
    openFile: async () => null,
    transportOf: () => network.transport,
    random: () => 0,
    retryMs: 5,
    ...own,
  }
  const managerOn = (deps: SessionWorkerDeps) => {
    const manager = createSessionManager(deps)
    const stop = db.subscribe(waitingTopic, (id) => void manager.send(id).catch(() => {}))
    running.add(async () => {
      stop()
      await manager.stop()
    })
    return manager
  }
  const manager = managerOn(managerDeps)
  const team = (method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) =>
    call(method, `/api/team/v1/workspaces/${workspaceId}/connections${path}`, { body, key: testTeamToken })
  const made = await team('POST', '', { channel: 'unofficial', name: 'Shop' })
  const connectionId: string = made.body.connection.id
  /** Runs all work that is due until none is left. */
  const work = async (one = manager) => {
    await one.renew()
    await one.claimFreeSessions()
    await one.whenIdle()
    one.tick()
    await one.send()
    await one.whenIdle()
  }
  /** Pairs by QR code, up to an open socket. */
  const pair = async (phone = newShopPhone()) => {
    await team('POST', `/${connectionId}/pair`, { method: 'qr' })
    await work()
    await network.last().qr('first')
    await network.last().login()
    await network.last().close(515)
    await work()
    await network.last().open(phone)
    await work()
    return network.last()
  }
  /** Confirms the risk as a member. */
  const acknowledge = async () => {
    await db.sql`
      update connections
      set acknowledged_at = ${w.clock.now()}, acknowledged_by = ${randomUUID()}
      where workspace_id = ${workspaceId}`
  }
  const conversation = async (): Promise<Loose> =>
    (await call('GET', `${inboxPath}/conversations`)).body.conversations[0]

  return {
    ...w,
    ...{ network, connectionId, manager, work, team, pair, acknowledge, conversation },
    /** Simulates another process: its own pool, key store and session manager. */
    addManager: async () => {
      const pool = openNode((await testDatabase()).options)
      atEnd(() => pool.close())
      const keyStore = openKeyStore(pool, { current: Buffer.alloc(32, 7) }, w.clock)
      const deps = { ...managerDeps, db: pool, keyStore, receive: inboxReceive({ ...test, db: pool, keyStore }) }
      return { manager: managerOn(deps), db: pool }
    },
    session: async (): Promise<Loose> => (await team('GET', `/${connectionId}/session`)).body.session,
    connection: async (): Promise<Loose> => (await team('GET', `/${connectionId}`)).body.connection,
    /** Pairs, confirms the risk, and lets a customer write. */
    startConversation: async () => {
      const socket = await pair()
      await acknowledge()
      await socket.customerWrites(customerPhone, 'Hello')
      return { socket, conversationId: (await conversation()).id as string }
    },
    /** Closes the socket before the service notices that the connection is lost. */
    loseConnection: async (socket: ScriptedSocket) => {
      await socket.close(428)
      await manager.whenIdle()
      await db.sql`update connections set state = 'active', state_reason = null where id = ${connectionId}`
    },
    /** Advances the clock by a minute, after which every session that may reconnect has done so. */
    reconnect: async (one?: SessionManager) => {
      w.clock.advance(60_000)
      await work(one)
      await network.last().open()
      await work(one)
      return network.last()
    },
    /** Resolves when a send of this kind waits for a session manager. */
    sendWaits: (kind: 'message' | 'file' = 'message') =>
      untilNotified(
        (look) => db.subscribe(waitingTopic, look),
        async () => {
          const rows = await db.sql`
            select from session_sends where workspace_id = ${workspaceId} and state = 'waiting' and kind = ${kind}`
          return rows.length > 0
        },
      ),
    post: (conversationId: string, text = 'Good morning') =>
      call('POST', `${inboxPath}/conversations/${conversationId}/messages`, {
        body: { kind: 'text', text },
        headers: { 'idempotency-key': randomUUID() },
      }),
    messages: async (id: string): Promise<Loose[]> =>
      (await call('GET', `${inboxPath}/conversations/${id}/messages`)).body.messages,
    /** Expires the deadline of unclaimed sends. */
    endDeadlines: async () => {
      await db.sql`
        update session_sends
        set deadline = statement_timestamp()
        where workspace_id = ${workspaceId} and state = 'waiting'`
    },
    /** Pauses sends after they are allowed to start, right before the session manager is called. */
    pauseSends: () => {
      const { promise: paused, resolve: pause } = Promise.withResolvers<void>()
      const { promise: released, resolve: resume } = Promise.withResolvers<void>()
      beforeKeyring = () => {
        pause()
        return released
      }
      return { paused, resume }
    },
    /** Expires the lease, as if the manager's process had stopped renewing it. */
    expireLease: async () => {
      await db.sql`
        update channel_sessions
        set lease_until = statement_timestamp() - interval '1 second'
        where workspace_id = ${workspaceId}`
    },
    /** Marks the processes of all pending sends as dead, and runs the job that settles their sends. */
    settleAsDead: async () => {
      await db.sql`
        update dispatches
        set alive_until = ${new Date(Date.now() - 1)},
          starting_until = case when starting_until is not null then ${new Date(Date.now() - 60_000)}::timestamptz end
        where workspace_id = ${workspaceId}`
      return settleStrandedSends({ ...w, connectors: connectorsOf(w) })
    },
  }
}
