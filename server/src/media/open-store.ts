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
 * Opens the store of the settings, and makes sure that it is the one that this installation's files are in. Throws an
 * error whose message tells the operator what to do.
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
  // The client is large: only those who use it load it.
  const { openS3Store } = await import('./store/s3-store.ts')
  return openS3Store(address)
}

async function checkMark({ db, keyStore, clock }: OpenStoreDeps, store: MediaStore): Promise<void> {
  const keyring = await keyStore.keyring(instanceScope)
  const storedMark = await readKnownStore(db)
  const mark = await store.readMark()
  if (mark !== null) return checkId(db, clock, store, parseMark(keyring, store, mark))
  if (storedMark !== null) throw markMissing(keyring, store, storedMark)
  await store.writeMark(createMark(keyring, randomUUID()))
  // Another node may have been first: what counts is what is there.
  const written = await store.readMark()
  if (written === null) throw new Error(`${capital(store.description)} does not keep what is written to it.`)
  return checkId(db, clock, store, parseMark(keyring, store, written))
}

/** The store that is noted first is the one for good: nodes that start at once with a folder each do not both pass. */
async function checkId(db: Db, clock: Clock, store: MediaStore, id: string): Promise<void> {
  await db.tx(
    (tx) => tx`
      insert into media_store (id, created_at)
      values (${id}, ${clock.now()})
      on conflict do nothing`,
  )
  if ((await readKnownStore(db)) === id) return
  throw new Error(
    `${capital(store.description)} is not the store that this installation's files are in, but another one that it has marked. ` +
      'Several processes need the same store: mount one folder on all machines, or use a bucket. Correct PARLEY_MEDIA_URL.',
  )
}

async function readKnownStore({ sql }: Db): Promise<string | null> {
  const [row] = await sql<{ id: string }[]>`
    select id
    from media_store`
  return row?.id ?? null
}

/** The proof is made with a key that outlives rotations, and that a restored database brings along. */
function createMark(keyring: Keyring, id: string): string {
  return `${JSON.stringify({ parleyStore: id, proof: proofOf(keyring, id).toString('hex') })}\n`
}

const proofOf = (keyring: Keyring, id: string) => keyring.stable('media.store', id)

/** The id in a mark of ours. */
function parseMark(keyring: Keyring, store: MediaStore, text: string): string {
  const [, id = '', proof = ''] = /^\{"parleyStore":"([0-9a-f-]{36})","proof":"([0-9a-f]{32})"\}\s*$/.exec(text) ?? []
  if (isUuid(id) && timingSafeEqual(Buffer.from(proof, 'hex'), proofOf(keyring, id))) return id
  throw new Error(
    `${capital(store.description)} belongs to another installation of Parley, or its ${markName} was changed: this one's keys do ` +
      'not explain it. Set PARLEY_MEDIA_URL to a folder or a prefix of its own; after a restore, check that database and ' +
      'files are of one installation.',
  )
}

function markMissing(keyring: Keyring, store: MediaStore, id: string): Error {
  return new Error(
    `${capital(store.description)} has no ${markName}, so it is not the store that this installation's files are in. Is its disk ` +
      `mounted, is PARLEY_MEDIA_URL right? To move the files, copy all of them with ${markName}. If they are lost, or there ` +
      `never were any, begin anew by putting a file of that name there with this line: ${createMark(keyring, id).trim()}`,
  )
}

const capital = (words: string) => words.slice(0, 1).toUpperCase() + words.slice(1)
