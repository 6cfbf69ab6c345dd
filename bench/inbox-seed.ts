import { systemClock } from '../server/src/base/clock.ts'
import type { Db } from '../server/src/base/db.ts'
import { openKeyStore } from '../server/src/base/encryption/key-store.ts'
import { newId } from '../server/src/base/id.ts'
import { insertConnection } from '../server/src/channels/connection/queries.ts'
import { type Filling, fillConversations } from './fill.ts'
import { type BenchWorkspace, benchMasterKey } from './workspace.ts'

export const appSecret = 'an-app-secret-of-the-bench'

/** Returns the n-th customer's number, the same on every connection and for seeded conversations. */
export const customerPhone = (n: number): string => String(5511900000000 + n)

export interface SeededConnection {
  id: string
  numberId: string
  /** Conversations, newest first; every third is owned by people, the others by the key. */
  conversations: string[]
}

export async function fillingOf(db: Db, { workspaceId }: BenchWorkspace): Promise<Filling> {
  const keyStore = openKeyStore(db, { current: benchMasterKey }, systemClock)
  return { db, keyring: await keyStore.keyring(workspaceId), workspaceId, now: systemClock.now() }
}

/** Offset between the conversations of two connections, of which each has one a minute: no two have the same time. */
const apartMs = 400
let connections = 0

/** Creates a connection to the platform at this port, with conversations. */
export async function seedConnection(
  filling: Filling,
  { keyId }: BenchWorkspace,
  platformPort: number,
  conversations: number,
): Promise<SeededConnection> {
  const { db, keyring, workspaceId, now } = filling
  const id = newId(now)
  const settings = {
    baseUrl: `http://127.0.0.1:${platformPort}`,
    version: 'v25.0',
    accessToken: 'an-access-token-of-the-bench',
    appSecret,
    verifyToken: 'a-verify-token',
  }
  const blank = {
    accountId: null,
    isOnPhone: false,
    phone: null,
    reservedAs: `http://127.0.0.1:${platformPort} ${id}`,
    stateReason: null,
    holds: [],
    sendsMarketing: false,
    acknowledgedAt: null,
    acknowledgedBy: null,
    lastEventInAt: null,
    lastEventOutAt: null,
    templatesSyncedAt: null,
    numberStatus: null,
    numberStatusDueAt: null,
  }
  const times = { stateChangedAt: now, createdAt: now, updatedAt: now }
  const connection = { ...blank, ...times, workspaceId, id, channel: 'waba', name: 'Bench', numberId: id } as const
  await db.tx((tx) => insertConnection(tx, keyring, { ...connection, settings, state: 'active' }, true))
  const at = new Date(now.getTime() - connections++ * apartMs)
  const ids = await fillConversations({ ...filling, now: at }, { connectionId: id, keyId, count: conversations })
  return { id, numberId: id, conversations: ids }
}
