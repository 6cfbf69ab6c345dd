import { createKeyGuard } from '../../../src/auth/api-keys/authenticate.ts'
import { createMemoryLimiter } from '../../../src/auth/rate-limit/limiter.ts'
import { manualClock } from '../../../src/base/clock.ts'
import type { Db, DbOptions } from '../../../src/base/db.ts'
import { openKeyStore } from '../../../src/base/encryption/key-store.ts'
import { newId } from '../../../src/base/id.ts'
import type { App } from '../../../src/base/route.ts'
import type { ChannelEvent } from '../../../src/channels/channel-event.ts'
import { registerOpenApi } from '../../../src/http/contract/openapi.ts'
import { sendRoutes } from '../../../src/inbox/api/routes-write.ts'
import { insertConversations } from '../../../src/inbox/conversation/batch-queries.ts'
import type { Conversation } from '../../../src/inbox/conversation/conversation.ts'
import { noMarks } from '../../../src/inbox/conversation/conversation-state.ts'
import { agent } from '../../../src/inbox/conversation/owner.ts'
import { createReceive } from '../../../src/inbox/receive/receive.ts'
import type { SendDeps, Sender } from '../../../src/inbox/send/send-deps.ts'
import { openFolderStore } from '../../../src/media/store/folder-store.ts'
import { fakePlatform } from '../channels/fake-platform.ts'
import { checkAnswers } from '../contract/contract.ts'
import { openNode, testDatabase } from '../database.ts'
import { atEnd, oncePerFile } from '../file-lifecycle.ts'
import { newFolder } from '../folder.ts'
import { testServer } from '../http.ts'
import { type Answer, testNoon as noon } from '../world.ts'
import { inboxWorld } from './inbox-world.ts'
import { sendDeps } from './send-deps.ts'
import { addUpload, type NewUpload } from './uploads.ts'

export { noon }
export type SendWorld = Awaited<ReturnType<typeof sendWorld>>

/** Node of the service that sends, with its own pool. */
export interface Node {
  deps: SendDeps
  app: App
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
  body: Answer['body']
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

/** Creates a workspace whose key can send, with its own nodes and clock, on a platform that the test controls. */
export async function sendWorld() {
  const w = await inboxWorld({ key: { scopes: ['inbox.write'] } })
  const { db, keyStore, workspaceId, connectionId, keyId } = w
  const { options: database } = await testDatabase()
  const [clock, platform, refusals] = [manualClock(noon), fakePlatform(), [] as string[]]
  const { mediaFolder, media } = await files()
  const makeNode = async (pool: Db): Promise<Node> => {
    const deps = await sendDeps(
      pool,
      openKeyStore(pool, { current: Buffer.alloc(32, 7) }, clock),
      clock,
      platform,
      media,
    )
    deps.recordRefusal = async (_connection, effect, code) => void refusals.push(`${effect} ${code}`)
    return { deps, app: await serve(deps) }
  }
  const node = await makeNode(db)
  const senderOf = <A extends Sender['actor']>(actor: A): Sender & { actor: A } => ({
    ...{ workspaceId, connectionIds: [], actor },
  })

  return {
    ...w,
    clock,
    /** Database and media folder, for other processes. */
    database,
    mediaFolder,
    platform,
    /** Adds a file of the team that no message uses. */
    upload: (conversationId: string, file?: Partial<NewUpload>) =>
      addUpload({ db, keyStore, clock, media }, { workspaceId, conversationId }, { ...picture, ...file }),
    node,
    agent: senderOf({ type: 'agent', id: keyId }),
    member: senderOf({ type: 'user', id: newId(noon) }),
    /** Reported refusals, as `effect code`. */
    refusals,
    tell: (...events: ChannelEvent[]) =>
      createReceive({ ...w.receiveDeps, clock })({ workspaceId, id: connectionId, channel: 'waba' }, events),
    addKey: (connectionIds: string[] = []) => w.addKey({ scopes: ['inbox.write'], connectionIds }),
    addNode: async (more: Pick<DbOptions, 'onStatement'> = {}) => {
      const pool = openNode({ ...database, ...more })
      atEnd(() => pool.close())
      return makeNode(pool)
    },
    conversation: async (settings: Partial<Conversation> = {}) => {
      const conversation = newConversation(connectionId, keyId, settings)
      const keyring = await keyStore.keyring(workspaceId)
      await db.tx((tx) => insertConversations({ tx, keyring, workspaceId }, [conversation]))
      return conversation
    },
    post: async (conversationId: string, options: PostOptions = {}): Promise<Reply> => {
      const { idempotencyKey = freshKey(), body = text(), query = {}, key = w.key } = options
      const reply = await (options.node ?? node).app.inject({
        method: 'POST',
        url: `/api/v1/inbox/conversations/${conversationId}/messages`,
        query,
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          ...(idempotencyKey === null ? {} : { 'idempotency-key': idempotencyKey }),
        },
        payload: JSON.stringify(body),
      })
      const isReplay = reply.headers['idempotent-replayed'] === 'true'
      return { status: reply.statusCode, body: reply.json(), text: reply.body, isReplay }
    },
    events: w.events as (id: string) => Promise<{ name: string; payload: Answer['body'] }[]>,
    message: async (id: string) => {
      const [row] = await db.sql<[{ status: string; error_code: string | null; settle_by: Date | null }]>`
        select status, error_code, settle_by
        from messages
        where workspace_id = ${workspaceId}
          and id = ${id}`
      return row
    },
  }
}

async function serve(deps: SendDeps): Promise<App> {
  const { db, clock } = deps
  const limits = { leadsPerMinute: 0, inboxPerMinute: 0 }
  const guard = await createKeyGuard({ db, clock, limits, trustedProxies: [], limiter: createMemoryLimiter(clock) })
  const { app } = testServer({ clock })
  app.addHook('onClose', () => guard.close())
  await registerOpenApi(app)
  const answers = checkAnswers(app)
  atEnd(async () => answers.assertNone())
  sendRoutes(app, deps, guard)
  await app.ready()
  return app
}

let phones = 5511900000000

function newConversation(connectionId: string, keyId: string, settings: Partial<Conversation>): Conversation {
  const phone = String(++phones)
  const owned = { owner: agent(keyId), ownerEpoch: 1, ownerSince: noon, held: false, handover: null, assignedTo: null }
  const state = {
    status: 'open',
    snoozedUntil: null,
    thread: null,
    unreadCount: 0,
    inbound: noMarks,
    lastMessage: null,
  } as const
  const times = { lastMessageAt: noon, unansweredSince: noon, createdAt: noon, updatedAt: noon }
  return {
    ...{ id: newId(noon), connectionId, channel: 'waba', ...owned, ...state, ...times, labelIds: [], teamId: null },
    ...{ priority: null, goal: null },
    contact: { name: 'Ana', phone, userId: null, parentUserId: null, address: { phone, userId: null } },
    windowExpiresAt: new Date(noon.getTime() + 3_600_000),
    ...settings,
  }
}
