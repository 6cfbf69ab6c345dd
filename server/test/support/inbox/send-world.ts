import { createApiKey } from '../../../src/access/keys/change.ts'
import { createGuard } from '../../../src/access/keys/guard.ts'
import { createMemoryLimiter } from '../../../src/access/rate-limit/rate-limit-memory.ts'
import { type ManualClock, manualClock } from '../../../src/base/clock.ts'
import type { Db, DbOptions } from '../../../src/base/db.ts'
import { newId } from '../../../src/base/id.ts'
import type { App } from '../../../src/base/route.ts'
import { openVault, type Vault } from '../../../src/base/sealing/vault.ts'
import type { Channel } from '../../../src/channels/connection/connection.ts'
import { describeApi } from '../../../src/http/contract/openapi.ts'
import { createServer } from '../../../src/http/server/server.ts'
import { sendRoutes } from '../../../src/inbox/api/send-routes.ts'
import type { Conversation } from '../../../src/inbox/conversation/conversation.ts'
import { agent, human } from '../../../src/inbox/conversation/owner.ts'
import { insertConversation } from '../../../src/inbox/conversation/queries.ts'
import type { SendDeps, Sender } from '../../../src/inbox/send/send-deps.ts'
import { openFolderStore } from '../../../src/media/store/folder-store.ts'
import { type FakePlatform, fakePlatform } from '../channels/fake-platform.ts'
import { checkAnswers } from '../contract/contract.ts'
import { openNode, testDatabase } from '../database.ts'
import { atEnd } from '../file-end.ts'
import { newFolder } from '../folder.ts'
import { sendDeps } from './send-deps.ts'
import { addUpload, type NewUpload } from './uploads.ts'

export const noon = new Date('2026-03-10T12:00:00.000Z')

/** One node of the service: a pool of its own, and what sends. */
export interface Node {
  deps: SendDeps
  app: App
}

export interface SendWorld {
  clock: ManualClock
  db: Db
  /** For other processes on the same database. */
  database: DbOptions
  vault: Vault
  platform: FakePlatform
  /** Where files are. */
  mediaFolder: string
  /** A file of the team that no message has taken. */
  upload(conversationId: string, file?: Partial<NewUpload>): Promise<string>
  node: Node
  workspaceId: string
  connectionId: string
  keyId: string
  key: string
  agent: Sender
  member: Sender
  /** What was told of refusals: `effect code`. */
  refusals: string[]
  addNode(options?: Pick<DbOptions, 'onStatement'>): Promise<Node>
  addKey(connectionIds?: string[]): Promise<{ id: string; value: string }>
  addConnection(channel?: Channel): Promise<string>
  conversation(settings?: Partial<Conversation>): Promise<Conversation>
  post(conversationId: string, options?: PostOptions): Promise<Reply>
  // biome-ignore lint/suspicious/noExplicitAny: as in Reply
  events(conversationId: string): Promise<{ name: string; payload: any }[]>
  message(id: string): Promise<{ status: string; error_code: string | null; settle_by: Date | null; occurred_at: Date }>
}

export interface PostOptions {
  idempotencyKey?: string | null
  body?: unknown
  key?: string
  node?: Node
  query?: Record<string, string>
}

export interface Reply {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  body: any
  text: string
  isReplay: boolean
}

export const text = (words = 'Hello') => ({ kind: 'text', text: words })
export const freshKey = (): string => newId(new Date())

const picture: NewUpload = { kind: 'image', type: 'image/png', bytes: Buffer.from('a picture') }

const limiter = createMemoryLimiter(manualClock(noon))

/** A fresh workspace with a connection, a key that may send and a scripted platform. */
export async function sendWorld(): Promise<SendWorld> {
  const { db, options } = await testDatabase()
  const clock = manualClock(noon)
  const vault = openVault(db, { current: Buffer.alloc(32, 7) }, clock)
  const platform = fakePlatform()
  const refusals: string[] = []
  const mediaFolder = await newFolder()
  const media = openFolderStore(mediaFolder)
  await media.writeMark('a mark')
  const workspaceId = newId(noon)
  await db.tx(async (tx) => {
    await tx`
      insert into workspaces (id, name, created_at, updated_at)
      values (${workspaceId}, 'Test', ${noon}, ${noon})`
    await vault.createSecrets(tx, workspaceId)
  })
  const addKey: SendWorld['addKey'] = async (connectionIds = []) => {
    const input = { workspaceId, createdBy: null, name: 'Key', scopes: ['inbox.write'], connectionIds } as const
    const { key, value } = await db.tx((tx) => createApiKey(tx, input, noon))
    return { id: key.id, value }
  }
  const makeNode = async (pool: Db): Promise<Node> => {
    const deps = await sendDeps(pool, openVault(pool, { current: Buffer.alloc(32, 7) }, clock), clock, platform, media)
    deps.noteRefusal = async (_connection, effect, code) => {
      refusals.push(`${effect} ${code}`)
    }
    return { deps, app: await serve(deps) }
  }
  const node = await makeNode(db)
  const { id: keyId, value: key } = await addKey()
  const addConnection = (channel: Channel = 'waba') => insertTestConnection(db, workspaceId, channel)
  const connectionId = await addConnection()

  return {
    clock,
    db,
    database: options,
    vault,
    platform,
    mediaFolder,
    upload: (conversationId, file) =>
      addUpload({ db, vault, clock, media }, { workspaceId, conversationId }, { ...picture, ...file }),
    node,
    workspaceId,
    connectionId,
    keyId,
    key,
    agent: { workspaceId, connectionIds: [], actor: { type: 'agent', id: keyId } },
    member: { workspaceId, connectionIds: [], actor: { type: 'user', id: newId(noon) } },
    refusals,
    addKey,
    addConnection,
    addNode: async (more = {}) => {
      const pool = openNode({ ...options, ...more })
      atEnd(() => pool.close())
      return makeNode(pool)
    },
    conversation: async (settings = {}) => {
      const conversation = newConversation(connectionId, keyId, settings)
      const keyring = await vault.keyring(workspaceId)
      await db.tx((tx) => insertConversation(tx, keyring, workspaceId, conversation))
      return conversation
    },
    post: async (conversationId, { idempotencyKey = freshKey(), body = text(), query = {}, ...other } = {}) => {
      const reply = await (other.node ?? node).app.inject({
        method: 'POST',
        url: `/api/v1/inbox/conversations/${conversationId}/messages`,
        query,
        headers: {
          authorization: `Bearer ${other.key ?? key}`,
          'content-type': 'application/json',
          ...(idempotencyKey === null ? {} : { 'idempotency-key': idempotencyKey }),
        },
        payload: JSON.stringify(body),
      })
      const isReplay = reply.headers['idempotent-replayed'] === 'true'
      return { status: reply.statusCode, body: reply.json(), text: reply.body, isReplay }
    },
    events: (conversationId) => readEvents(db, vault, workspaceId, conversationId),
    message: async (id) => {
      const [row] = await db.sql`
        select status, error_code, settle_by, occurred_at
        from messages
        where workspace_id = ${workspaceId}
          and id = ${id}`
      return row as never
    },
  }
}

async function serve(deps: SendDeps): Promise<App> {
  const guard = await createGuard({
    db: deps.db,
    clock: deps.clock,
    limits: { leadsPerMinute: 0, inboxPerMinute: 0 },
    trustedProxies: [],
    limiter,
  })
  const app = createServer({ log: deps.log, clock: deps.clock })
  app.addHook('onClose', () => guard.close())
  await describeApi(app)
  const answers = checkAnswers(app)
  sendRoutes(app, deps, guard)
  await app.ready()
  atEnd(async () => {
    await app.close()
    answers.assertNone()
  })
  return app
}

let phones = 5511900000000

function newConversation(connectionId: string, keyId: string, settings: Partial<Conversation>): Conversation {
  const phone = String(++phones)
  return {
    id: newId(noon),
    connectionId,
    channel: 'waba',
    contact: { name: 'Ana', phone, userId: null, parentUserId: null, address: { phone, userId: null } },
    owner: keyId === '' ? human : agent(keyId),
    ownerEpoch: 1,
    ownerSince: noon,
    held: false,
    handover: null,
    status: 'open',
    snoozedUntil: null,
    assignedTo: null,
    labelIds: [],
    unreadCount: 0,
    windowExpiresAt: new Date(noon.getTime() + 3_600_000),
    lastMessageAt: noon,
    unansweredSince: noon,
    lastMessage: null,
    createdAt: noon,
    updatedAt: noon,
    ...settings,
  }
}

async function insertTestConnection(db: Db, workspaceId: string, channel: Channel): Promise<string> {
  const id = newId(noon)
  await db.sql`
    insert into connections (
      workspace_id, id, channel, name, number_id, settings, state, state_changed_at, created_at, updated_at
    )
    values (${workspaceId}, ${id}, ${channel}, 'Number', ${id}, ${Buffer.alloc(1)}, 'active', ${noon}, ${noon}, ${noon})`
  return id
}

async function readEvents(db: Db, vault: Vault, workspaceId: string, conversationId: string) {
  const keyring = await vault.keyring(workspaceId)
  const rows = await db.sql<{ id: string; name: string; payload: Buffer }[]>`
    select id, name, payload
    from events
    where workspace_id = ${workspaceId}
      and subject_id = ${conversationId}
    order by id`
  return rows.map(({ id, name, payload }) => ({
    name,
    payload: JSON.parse(keyring.openText({ table: 'events', row: id, column: 'payload' }, payload)),
  }))
}
