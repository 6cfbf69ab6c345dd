import { randomUUID, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import type { Db } from '../base/db.ts'
import { instanceScope, type KeyStore } from '../base/encryption/key-store.ts'
import type { Keyring } from '../base/encryption/keyring.ts'
import { isUuid } from '../base/id.ts'
import type { MediaAddress } from '../base/media-address.ts'
import { openFolderStore } from './store/folder-store.ts'
import { type MediaStore, markName } from './store/store.ts'

export interface OpenStoreDeps {
  db: Db
  keyStore: KeyStore
  clock: Clock
}

/**
 * Opens the configured store and verifies that it contains this installation's files. Throws an error whose message
 * tells the operator what to do.
 */
export async function openStore(deps: OpenStoreDeps, address: MediaAddress): Promise<MediaStore> {
  const store = await storeAt(address)
  try {
    await checkMark(deps, store)
    return store
  } catch (error) {
    await store.close()
    throw error
  }
}

async function storeAt(address: MediaAddress): Promise<MediaStore> {
  if (address.kind === 'folder') return openFolderStore(address.folder)
  // The client is large, so it is loaded only if needed.
  const { openS3Store } = await import('./store/s3-store.ts')
  return openS3Store(address)
}

async function checkMark({ db, keyStore, clock }: OpenStoreDeps, store: MediaStore): Promise<void> {
  const keyring = await keyStore.keyring(instanceScope)
  const storedMark = await findStoreId(db)
  const mark = await store.readMark()
  if (mark !== null) return checkId(db, clock, store, parseMark(keyring, store, mark))
  if (storedMark !== null) throw markMissing(keyring, store, storedMark)
  await store.writeMark(createMark(keyring, randomUUID()))
  // Another node may have written the mark first.
  const written = await store.readMark()
  if (written === null) throw new Error(`${capitalize(store.description)} does not store what is written to it.`)
  return checkId(db, clock, store, parseMark(keyring, store, written))
}

/**
 * The first store recorded in the database is the only valid one, so that nodes that start at the same time with
 * different folders do not all succeed.
 */
async function checkId(db: Db, clock: Clock, store: MediaStore, id: string): Promise<void> {
  await db.tx(
    (tx) => tx`
      insert into media_store (id, created_at)
      values (${id}, ${clock.now()})
      on conflict do nothing`,
  )
  if ((await findStoreId(db)) === id) return
  throw new Error(
    `${capitalize(store.description)} belongs to this installation but is not the store that contains its files. ` +
      'All processes must use the same store: mount one folder on all machines, or use a bucket. Correct PARLEY_MEDIA_URL.',
  )
}

async function findStoreId({ sql }: Db): Promise<string | null> {
  const [row] = await sql<{ id: string }[]>`
    select id
    from media_store`
  return row?.id ?? null
}

/** The proof uses a key that does not change with rotations and is restored with the database. */
function createMark(keyring: Keyring, id: string): string {
  return `${JSON.stringify({ parleyStore: id, proof: proofOf(keyring, id).toString('hex') })}\n`
}

const proofOf = (keyring: Keyring, id: string) => keyring.stable('media.store', id)

/** Returns the id in a valid mark. */
function parseMark(keyring: Keyring, store: MediaStore, text: string): string {
  const [, id = '', proof = ''] = /^\{"parleyStore":"([0-9a-f-]{36})","proof":"([0-9a-f]{32})"\}\s*$/.exec(text) ?? []
  if (isUuid(id) && timingSafeEqual(Buffer.from(proof, 'hex'), proofOf(keyring, id))) return id
  throw new Error(
    `${capitalize(store.description)} belongs to another installation of Parley, or its ${markName} was modified: it does not match ` +
      "this installation's keys. Set PARLEY_MEDIA_URL to a separate folder or prefix; after a restore, check that the " +
      'database and the files belong to the same installation.',
  )
}

function markMissing(keyring: Keyring, store: MediaStore, id: string): Error {
  return new Error(
    `${capitalize(store.description)} has no ${markName}, so it is not the store that contains this installation's files. Check that ` +
      `its disk is mounted and that PARLEY_MEDIA_URL is correct. To move the files, copy all of them and ${markName}. If they ` +
      `are lost, or never existed, create a file of that name there with this line: ${createMark(keyring, id).trim()}`,
  )
}

const capitalize = (description: string) => description.slice(0, 1).toUpperCase() + description.slice(1)
