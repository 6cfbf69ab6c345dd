import webPush from 'web-push'
import type { Clock } from '../../base/clock.ts'
import type { Db, Sql } from '../../base/db.ts'
import { instanceScope, type Vault } from '../../base/sealing/vault.ts'

/** By which push services know this installation (VAPID). A browser that subscribed takes what these sign, and nothing else. */
export interface PushKeys {
  /** As browsers want it. */
  publicKey: string
  privateKey: string
}

interface Deps {
  db: Db
  vault: Vault
  clock: Clock
}

// There is one row, whoever makes it.
const keysId = instanceScope
const privateKeyPlace = (id: string) => ({ table: 'push_keys', row: id, column: 'private_key' })

/** The keys of the installation; the first start makes them. Later ones would cut off every browser that has subscribed. */
export async function ensurePushKeys({ db, vault, clock }: Deps): Promise<PushKeys> {
  return vault.withKeyring(instanceScope, async (keyring) => {
    const open = (row: KeyRow) => ({
      publicKey: row.public_key,
      privateKey: keyring.openText(privateKeyPlace(keysId), row.private_key),
    })
    const known = await readKeys(db.sql)
    if (known !== undefined) return open(known)
    const made = webPush.generateVAPIDKeys()
    const sealed = keyring.seal(privateKeyPlace(keysId), made.privateKey)
    await db.tx(
      (tx) => tx`
        insert into push_keys (id, public_key, private_key, created_at)
        values (${keysId}, ${made.publicKey}, ${sealed}, ${clock.now()})
        on conflict do nothing`,
    )
    const stored = await readKeys(db.sql)
    return stored === undefined ? made : open(stored)
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
