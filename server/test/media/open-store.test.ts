import assert from 'node:assert/strict'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock } from '../../src/base/clock.ts'
import type { Db } from '../../src/base/db.ts'
import { openKeyStore } from '../../src/base/encryption/key-store.ts'
import type { MediaAddress } from '../../src/base/media-address.ts'
import { type OpenStoreDeps, openStore } from '../../src/media/open-store.ts'
import { openS3Store } from '../../src/media/store/s3-store.ts'
import { markName } from '../../src/media/store/store.ts'
import { migratedDatabase, testDatabase } from '../support/database.ts'
import { atEnd } from '../support/file-lifecycle.ts'
import { newFolder } from '../support/folder.ts'
import { clientOf, newS3Address } from '../support/media/stores.ts'

/** A new installation without a store. */
async function installation(): Promise<OpenStoreDeps> {
  return withoutStore((await testDatabase()).db)
}

/** Even with the same master key: the secrets in the database decide. */
async function otherInstallation(): Promise<OpenStoreDeps> {
  return withoutStore((await migratedDatabase()).db)
}

async function withoutStore(db: Db): Promise<OpenStoreDeps> {
  const keyStore = openKeyStore(db, { current: Buffer.alloc(32, 7) }, systemClock)
  await keyStore.ensureInstanceSecrets()
  await db.tx((tx) => tx`delete from media_store`)
  return { db, keyStore, clock: systemClock }
}

interface Place {
  address: MediaAddress
  takeMark(): Promise<string>
  putMark(text: string): Promise<void>
}

async function newFolderPlace(): Promise<Place> {
  const folder = join(await newFolder(), 'media')
  return {
    address: { kind: 'folder', folder },
    takeMark: async () => {
      const text = await readFile(join(folder, markName), 'utf8')
      await rm(join(folder, markName))
      return text
    },
    putMark: (text) => writeFile(join(folder, markName), text),
  }
}

async function newBucketPlace(): Promise<Place> {
  const { DeleteObjectCommand } = await import('@aws-sdk/client-s3')
  const address = await newS3Address()
  const { bucket: Bucket, prefix } = address
  const client = await clientOf(address)
  const store = openS3Store(address)
  atEnd(() => store.close())
  return {
    address,
    takeMark: async () => {
      const text = await store.readMark()
      await client.send(new DeleteObjectCommand({ Bucket, Key: prefix + markName }))
      return text ?? ''
    },
    putMark: (text) => store.writeMark(text),
  }
}

const places = { folder: newFolderPlace, bucket: newBucketPlace }

async function opens(deps: OpenStoreDeps, { address }: Place): Promise<void> {
  const store = await openStore(deps, address)
  await store.close()
}

for (const [form, newPlace] of Object.entries(places)) {
  test(`a ${form} is marked at the first start, accepted later, and rejected without its mark until that is restored`, async () => {
    const own = await installation()
    const place = await newPlace()
    await opens(own, place)
    await opens(own, place)
    const mark = await place.takeMark()
    await assert.rejects(opens(own, place), (error: Error) => {
      assert.match(error.message, /has no parley-store\.json.*its disk is mounted.*create a file/s)
      assert.ok(error.message.endsWith(mark.trim()), 'the suggested line is that of the mark')
      return true
    })
    await place.putMark(mark)
    await opens(own, place)
  })

  test(`a ${form} with the mark of another installation is rejected`, async () => {
    const own = await installation()
    const place = await newPlace()
    await opens(await otherInstallation(), place)
    await assert.rejects(opens(own, place), /belongs to another installation of Parley.*PARLEY_MEDIA_URL/s)
  })
}

test('a modified mark is rejected', async () => {
  const own = await installation()
  const place = await newFolderPlace()
  await opens(own, place)
  const mark = await place.takeMark()
  const flipped = mark.replace(/"proof":"(.)/, (_, digit) => `"proof":"${digit === '0' ? '1' : '0'}`)
  for (const text of ['', '{}', 'x'.repeat(5000), flipped, mark.slice(0, -3), `${mark}${mark}`]) {
    await place.putMark(text)
    await assert.rejects(opens(own, place), /does not match this installation/)
  }
})

test('nodes that start at the same time with one folder all use it and mark it once', async () => {
  const own = await installation()
  const place = await newFolderPlace()
  await Promise.all(Array.from({ length: 8 }, () => opens(own, place)))
  await opens(own, place)
  const [row] = await own.db.sql<{ count: number }[]>`select count(*)::integer as count from media_store`
  assert.equal(row?.count, 1)
})

test('of nodes with separate folders only one starts', async () => {
  const own = await installation()
  const apart = await Promise.all(Array.from({ length: 4 }, newFolderPlace))
  const starts = async () =>
    (await Promise.allSettled(apart.map((place) => opens(own, place)))).map((end) => end.status)
  const first = await starts()
  assert.deepEqual(first.toSorted(), ['fulfilled', 'rejected', 'rejected', 'rejected'])
  assert.deepEqual(await starts(), first)
  const [refused = 0] = first.flatMap((status, n) => (status === 'rejected' ? [n] : []))
  const place = apart[refused]
  assert.ok(place)
  await assert.rejects(opens(own, place), /All processes must use the same store|is not the store/)
})
