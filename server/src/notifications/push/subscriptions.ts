import { createHash } from 'node:crypto'
import type { Static } from 'typebox'
import type { Clock } from '../../base/clock.ts'
import type { Db, Sql, Tx } from '../../base/db.ts'
import { instanceScope, type KeyStore } from '../../base/encryption/key-store.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { newId } from '../../base/id.ts'
import type { Language } from '../../base/text/languages.ts'
import { notMemberError } from '../preferences.ts'
import type { NewSubscription } from '../schema.ts'

/** Address of a browser, with the keys to encrypt for it. */
export type PushTarget = Omit<Static<typeof NewSubscription>, 'language'>

export interface Subscription {
  id: string
  userId: string
  language: Language
  target: PushTarget
}

/** Browsers per person; a new one replaces the oldest. */
export const maxSubscriptions = 10

const targetContext = (id: string) => ({ table: 'push_subscriptions', row: id, column: 'content' })

/** Adds or renews the subscription of a session's browser; returns its id. Throws 403 for non-members. */
export async function addSubscription(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  by: { userId: string; sessionId: string },
  { target, language }: { target: PushTarget; language: Language },
  now: Date,
): Promise<string> {
  const id = newId(now)
  const hash = createHash('sha256').update(target.endpoint).digest()
  // Replaces the row, because the encryption is bound to its id.
  await tx`
    delete from push_subscriptions
    where workspace_id = ${workspaceId}
      and user_id = ${by.userId}
      and endpoint_hash = ${hash}`
  const added = await tx`
    insert into push_subscriptions (
      workspace_id, user_id, id, session_id, endpoint_hash, content, language, created_at
    )
    select m.workspace_id, m.user_id, ${id}, ${by.sessionId}, ${hash},
      ${keyring.encrypt(targetContext(id), JSON.stringify(target))}, ${language}, ${now}
    from members m
    where m.workspace_id = ${workspaceId}
      and m.user_id = ${by.userId}
    for no key update`
  if (added.count === 0) throw notMemberError()
  await tx`
    delete from push_subscriptions
    where workspace_id = ${workspaceId}
      and id in (
        select id
        from push_subscriptions
        where workspace_id = ${workspaceId}
          and user_id = ${by.userId}
        order by created_at desc, id desc
        offset ${maxSubscriptions}
      )`
  return id
}

export async function removeSubscription(tx: Tx, workspaceId: string, userId: string, id: string): Promise<boolean> {
  const removed = await tx`
    delete from push_subscriptions
    where workspace_id = ${workspaceId}
      and user_id = ${userId}
      and id = ${id}`
  return removed.count > 0
}

export async function listSubscriptions(
  sql: Sql,
  keyring: Keyring,
  workspaceId: string,
  userIds: readonly string[],
): Promise<Subscription[]> {
  const rows = await sql<{ id: string; userId: string; language: Language; content: Buffer }[]>`
    select id, user_id as "userId", language, content
    from push_subscriptions
    where workspace_id = ${workspaceId}
      and user_id = any (${[...userIds]}::uuid[])
    order by id`
  return rows.map(({ content, ...row }) => ({
    ...row,
    target: JSON.parse(keyring.decryptText(targetContext(row.id), content)) as PushTarget,
  }))
}

/** VAPID keys of the installation. A subscribed browser accepts only pushes signed with them. */
export interface PushKeys {
  /** Base64url, as browsers expect it. */
  publicKey: string
  privateKey: string
}

interface Deps {
  db: Db
  keyStore: KeyStore
  clock: Clock
}

// All processes share one row.
const keysId = instanceScope
const privateKeyContext = (id: string) => ({ table: 'push_keys', row: id, column: 'private_key' })

/** Returns the keys; creates them at the first start. New keys would invalidate all subscriptions. */
export async function ensurePushKeys({ db, keyStore, clock }: Deps): Promise<PushKeys> {
  return keyStore.withKeyring(instanceScope, async (keyring) => {
    const decrypt = (row: KeyRow) => ({
      publicKey: row.public_key,
      privateKey: keyring.decryptText(privateKeyContext(keysId), row.private_key),
    })
    const existing = await readKeys(db.sql)
    if (existing !== undefined) return decrypt(existing)
    const { default: webPush } = await import('web-push')
    const created = webPush.generateVAPIDKeys()
    const encrypted = keyring.encrypt(privateKeyContext(keysId), created.privateKey)
    await db.tx(
      (tx) => tx`
        insert into push_keys (id, public_key, private_key, created_at)
        values (${keysId}, ${created.publicKey}, ${encrypted}, ${clock.now()})
        on conflict do nothing`,
    )
    const stored = await readKeys(db.sql)
    return stored === undefined ? created : decrypt(stored)
  })
}

interface KeyRow {
  public_key: string
  private_key: Buffer
}

async function readKeys(sql: Sql): Promise<KeyRow | undefined> {
  const [row] = await sql<KeyRow[]>`
    select public_key, private_key
    from push_keys
    where id = ${keysId}`
  return row
}
