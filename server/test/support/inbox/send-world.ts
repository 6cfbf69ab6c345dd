import { createGuard } from '../../../src/access/keys/guard.ts'
import { createMemoryLimiter } from '../../../src/access/rate-limit/rate-limit-memory.ts'
import { manualClock } from '../../../src/base/clock.ts'
import type { Db, DbOptions } from '../../../src/base/db.ts'
import { newId } from '../../../src/base/id.ts'
import type { App } from '../../../src/base/route.ts'
import { openVault } from '../../../src/base/sealing/vault.ts'
import { describeApi } from '../../../src/http/contract/openapi.ts'
import { createServer } from '../../../src/http/server/server.ts'
import { sendRoutes } from '../../../src/inbox/api/send-routes.ts'
import type { Conversation } from '../../../src/inbox/conversation/conversation.ts'
import { agent } from '../../../src/inbox/conversation/owner.ts'
import { insertConversation } from '../../../src/inbox/conversation/queries.ts'
import { receive } from '../../../src/inbox/receive/receive.ts'
import type { SendDeps, Sender } from '../../../src/inbox/send/send-deps.ts'
import { openFolderStore } from '../../../src/media/store/folder-store.ts'
import { type FakePlatform, fakePlatform } from '../channels/fake-platform.ts'
import { checkAnswers } from '../contract/contract.ts'
import { openNode, testDatabase } from '../database.ts'
import { atEnd, oncePerFile } from '../file-end.ts'
import { newFolder } from '../folder.ts'
import { testNoon as noon } from '../world.ts'
import { type InboxWorld, inboxWorld } from './inbox-world.ts'
import { sendDeps } from './send-deps.ts'
import { addUpload, type NewUpload } from './uploads.ts'

export { noon }

/** One node of the service: a pool of its own, and what sends. */
export interface Node {
  deps: SendDeps
  app: App
}

/** A workspace whose key may send, on nodes of its own with a clock of its own, by a platform that behaves as the test has it. */
export interface SendWorld extends Omit<InboxWorld, 'platform' | 'addKey' | 'events'> {
  /** For other processes on the same database. */
  database: DbOptions
  platform: FakePlatform
  /** Where files are. */
  mediaFolder: string
  /** A file of the team that no message has taken. */
  upload(conversationId: string, file?: Partial<NewUpload>): Promise<string>
  node: Node
  agent: Sender
  member: Sender
  /** What was told of refusals: `effect code`. */
  refusals: string[]
  addNode(options?: Pick<DbOptions, 'onStatement'>): Promise<Node>
  addKey(connectionIds?: string[]): Promise<{ id: string; value: string }>
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

const files = oncePerFile(async () => {
  const mediaFolder = await newFolder()
  const media = openFolderStore(mediaFolder)
  await media.writeMark('a mark')
  return { mediaFolder, media }
})

export async function sendWorld(): Promise<SendWorld> {
  const w = await inboxWorld({ key: { scopes: ['inbox.write'] } })
  const { db, vault, workspaceId, connectionId, keyId } = w
  const { options: database } = await testDatabase()
  const clock = manualClock(noon)
  const platform = fakePlatform()
  const refusals: string[] = []
  const { mediaFolder, media } = await files()
  const makeNode = async (pool: Db): Promise<Node> => {
    const deps = await sendDeps(pool, openVault(pool, { current: Buffer.alloc(32, 7) }, clock), clock, platform, media)
    deps.noteRefusal = async (_connection, effect, code) => {
      refusals.push(`${effect} ${code}`)
    }
    return { deps, app: await serve(deps) }
  }
  const node = await makeNode(db)
  const sender = { workspaceId, connectionIds: [] }

  return {
    ...w,
    clock,
    database,
    platform,
    mediaFolder,
    upload: (conversationId, file) =>
      addUpload({ db, vault, clock, media }, { workspaceId, conversationId }, { ...picture, ...file }),
    node,
    agent: { ...sender, actor: { type: 'agent', id: keyId } },
    member: { ...sender, actor: { type: 'user', id: newId(noon) } },
    refusals,
    tell: (...events) =>
      receive({ ...w.receiveDeps, clock }, { workspaceId, id: connectionId, channel: 'waba' }, events),
    addKey: (connectionIds = []) => w.addKey({ scopes: ['inbox.write'], connectionIds }),
    addNode: async (more = {}) => {
      const pool = openNode({ ...database, ...more })
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
          authorization: `Bearer ${other.key ?? w.key}`,
          'content-type': 'application/json',
          ...(idempotencyKey === null ? {} : { 'idempotency-key': idempotencyKey }),
        },
        payload: JSON.stringify(body),
      })
      const isReplay = reply.headers['idempotent-replayed'] === 'true'
      return { status: reply.statusCode, body: reply.json(), text: reply.body, isReplay }
    },
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
    limiter: createMemoryLimiter(deps.clock),
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
    owner: agent(keyId),
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
