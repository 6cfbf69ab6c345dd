import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import S3rver from '@20minutes/s3rver'
import type { S3Address } from '../../../src/base/media-address.ts'
import { openFolderStore } from '../../../src/media/store/folder-store.ts'
import { openS3Store } from '../../../src/media/store/s3-store.ts'
import type { MediaStore } from '../../../src/media/store/store.ts'
import { atEnd, oncePerFile } from '../file-lifecycle.ts'
import { newFolder } from '../folder.ts'

const bucket = 'parley-media'

/** `PARLEY_TEST_S3` names another server with an empty bucket: `http://key:secret@host:port/bucket`. */
const s3Server = oncePerFile(() => {
  const other = process.env.PARLEY_TEST_S3
  return other === undefined ? startS3(false) : Promise.resolve(addressOf(new URL(other)))
})

/** Starts `@20minutes/s3rver`, an S3 server with ranges and multipart uploads; checks signatures if strict. */
export async function startS3(isStrict: boolean): Promise<S3Address> {
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    // It computes a different path than the client for bucket operations, so lists would be refused. `s3-store.test.ts`
    // uses a strict one and lists nothing.
    allowMismatchedSignatures: !isStrict,
    directory: await newFolder(),
    configureBuckets: [{ name: bucket, configs: [] }],
  })
  const { port } = await server.run()
  atEnd(() => server.close())
  return addressOf(new URL(`http://S3RVER:S3RVER@127.0.0.1:${port}/${bucket}`))
}

const addressOf = ({ origin, pathname, username, password }: URL): S3Address => ({
  ...{ kind: 's3', bucket: pathname.slice(1), prefix: '', endpoint: origin, region: 'us-east-1' },
  credentials: { accessKeyId: decodeURIComponent(username), secretAccessKey: password },
})

/** Returns an unused address in the bucket of the tests. */
export async function newS3Address(): Promise<S3Address> {
  return { ...(await s3Server()), prefix: `${randomUUID()}/` }
}

export interface TestStore {
  store: MediaStore
  /** Writes an object by other means than the store. */
  putObject(path: string, text: string): Promise<void>
}

/** Returns a client that makes changes to a bucket that a store would not. */
export async function clientOf({ region, endpoint, credentials }: S3Address) {
  const { S3Client } = await import('@aws-sdk/client-s3')
  assert.ok(credentials !== null && endpoint !== null)
  const calm = { forcePathStyle: true, requestChecksumCalculation: 'WHEN_REQUIRED' } as const
  const client = new S3Client({ region, endpoint, credentials, ...calm })
  atEnd(async () => client.destroy())
  return client
}

/** Empty stores of each kind, with a mark. */
export const stores: Record<string, () => Promise<TestStore>> = {
  folder: async () => {
    const root = join(await newFolder(), 'media')
    const store = openFolderStore(root)
    await store.writeMark('a mark')
    const putObject = async (path: string, text: string) => {
      await mkdir(dirname(join(root, path)), { recursive: true })
      await writeFile(join(root, path), text)
    }
    return { store, putObject }
  },
  S3: async () => {
    const { PutObjectCommand } = await import('@aws-sdk/client-s3')
    const address = await newS3Address()
    const store = openS3Store(address)
    await store.writeMark('a mark')
    const client = await clientOf(address)
    atEnd(() => store.close())
    const putObject = async (path: string, text: string) => {
      await client.send(new PutObjectCommand({ Bucket: address.bucket, Key: address.prefix + path, Body: text }))
    }
    return { store, putObject }
  },
}

/** Yields the bytes of a file in parts of an odd length that share the same memory; then throws `failure` if given. */
export async function* pieces(bytes: Uint8Array, failure?: Error): AsyncGenerator<Uint8Array> {
  const piece = Buffer.alloc(65_521)
  for (let at = 0; at < bytes.length; at += piece.length) {
    const part = bytes.subarray(at, at + piece.length)
    piece.set(part)
    yield piece.subarray(0, part.length)
  }
  if (failure !== undefined) throw failure
}

/** Returns the bytes of the store under this name, or a range of them. */
export async function readAll(store: MediaStore, name: string, start?: number, end?: number | null): Promise<Buffer> {
  const read: Uint8Array[] = []
  for await (const piece of await store.open(name, start, end)) read.push(Buffer.from(piece))
  return Buffer.concat(read)
}
