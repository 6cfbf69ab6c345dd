import { Readable } from 'node:stream'
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsCommand,
  PutObjectCommand,
  S3Client,
  type S3ClientConfig,
} from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import type { S3Address } from '../../base/media-address.ts'
import {
  fileMissing,
  type MediaStore,
  markName,
  nameFromPath,
  type StoredFile,
  StoreError,
  storePath,
} from './store.ts'

/** Minimum part size of S3. Each running upload uses this much memory, or twice as much. */
const partBytes = 5 * 1024 * 1024
const attempts = 4
const connectTimeoutMs = 5_000
const socketTimeoutMs = 30_000
const maxListed = 1_000

/** Opens a store in an existing bucket. Any number of nodes can share it. */
export function openS3Store(address: S3Address): MediaStore {
  const { bucket, prefix } = address
  const client = new S3Client(clientConfig(address))
  const description = `the bucket ${bucket}${address.endpoint === null ? '' : ` at ${new URL(address.endpoint).host}`}`
  const keyOf = (name: string) => prefix + storePath(name)
  const translate = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      throw toStoreError(description, error)
    }
  }
  const read = async (Key: string, range?: string): Promise<Readable> => {
    const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key, Range: range }))
    return Body instanceof Readable ? Body : Readable.from([])
  }

  const readMark = () =>
    translate(async () => {
      try {
        return Buffer.concat(await (await read(prefix + markName)).toArray()).toString()
      } catch (error) {
        if (nameOf(error) !== 'NoSuchKey') throw error
        return null
      }
    })

  return {
    description,
    put: async (name, bytes) => {
      const Key = keyOf(name)
      const source = countBytes(bytes)
      const params = { Bucket: bucket, Key, Body: Readable.from(source.bytes, { objectMode: false }) }
      // One part at a time: concurrent parts would each need memory.
      const upload = new Upload({ client, params, partSize: partBytes, queueSize: 1 })
      try {
        await upload.done()
      } catch (error) {
        throw source.failure() ?? toStoreError(description, error)
      }
      return source.total()
    },
    open: async (name, start = 0, end = null) => {
      const key = keyOf(name)
      try {
        return await read(key, start > 0 || end !== null ? rangeHeader(start, end) : undefined)
      } catch (error) {
        throw nameOf(error) === 'NoSuchKey' ? fileMissing(name, error) : toStoreError(description, error)
      }
    },
    remove: (name) => {
      const Key = keyOf(name)
      return translate(async () => void (await client.send(new DeleteObjectCommand({ Bucket: bucket, Key }))))
    },
    list: (after, limit) => {
      const Marker = after === null ? prefix : keyOf(after)
      return translate(() => listBucket(client, { Bucket: bucket, Prefix: prefix, Marker }, limit))
    },
    deletePartialFiles: (before) =>
      translate(async () => {
        try {
          return await abortUploads(client, { Bucket: bucket, Prefix: prefix }, before)
        } catch (error) {
          // The store then removes incomplete uploads by its own rules.
          if (nameOf(error) !== 'NotImplemented') throw error
          return 0
        }
      }),
    readMark,
    writeMark: (text) =>
      translate(async () => {
        // Some stores do not support the condition of the following write.
        if ((await readMark()) !== null) return
        await putIfAbsent(client, { Bucket: bucket, Key: prefix + markName, Body: text })
      }),
    close: async () => client.destroy(),
  }
}

function clientConfig({ region, endpoint, credentials }: S3Address): S3ClientConfig {
  return {
    region,
    // If null, the client finds credentials itself: a profile, or the machine's role.
    ...(credentials !== null && { credentials }),
    ...(endpoint !== null && { endpoint, forcePathStyle: true }),
    maxAttempts: attempts,
    // Files are authenticated by their encryption, and some stores do not support the newer checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: connectTimeoutMs,
      socketTimeout: socketTimeoutMs,
      requestTimeout: socketTimeoutMs,
      throwOnRequestTimeout: true,
    },
  }
}

const rangeHeader = (start: number, end: number | null) => `bytes=${start}-${end === null ? '' : end - 1}`

/** Counts the bytes and keeps an error of the source. */
function countBytes(bytes: AsyncIterable<Uint8Array>) {
  let total = 0
  let failure: unknown
  const pass = async function* () {
    try {
      for await (const part of bytes) {
        total += part.length
        // The upload buffers data until a part is full, and the source may overwrite its chunk before.
        yield Buffer.from(part)
      }
    } catch (error) {
      failure = error
      throw error
    }
  }
  return { bytes: pass(), total: () => total, failure: () => failure }
}

interface BucketPrefix {
  Bucket: string
  Prefix: string
}

/** Uses the older list operation: every store supports it, and it can continue after a given key. */
async function listBucket(
  client: S3Client,
  from: BucketPrefix & { Marker: string },
  limit: number,
): Promise<StoredFile[]> {
  const found: StoredFile[] = []
  let Marker = from.Marker
  for (;;) {
    const MaxKeys = Math.min(limit - found.length, maxListed)
    const page = await client.send(new ListObjectsCommand({ ...from, Marker, MaxKeys }))
    for (const { Key = '', Size = 0, LastModified } of page.Contents ?? []) {
      Marker = Key
      const name = nameFromPath(Key.slice(from.Prefix.length))
      if (name !== null && LastModified !== undefined) found.push({ name, bytes: Size, storedAt: LastModified })
    }
    // A page may contain mostly files that are not ours.
    if (found.length === limit || page.IsTruncated !== true) return found
  }
}

async function abortUploads(client: S3Client, location: BucketPrefix, before: Date): Promise<number> {
  let dropped = 0
  for (;;) {
    const page = await client.send(new ListMultipartUploadsCommand(location))
    const old = (page.Uploads ?? []).filter(({ Initiated }) => Initiated !== undefined && Initiated < before)
    for (const { Key, UploadId } of old) {
      await client.send(new AbortMultipartUploadCommand({ Bucket: location.Bucket, Key, UploadId }))
    }
    dropped += old.length
    // Aborted uploads are not listed again. If a page has none to abort, the rest is left for the next run.
    if (page.IsTruncated !== true || old.length === 0) return dropped
  }
}

async function putIfAbsent(client: S3Client, object: { Bucket: string; Key: string; Body: string }): Promise<void> {
  try {
    await client.send(new PutObjectCommand({ ...object, IfNoneMatch: '*' }))
  } catch (error) {
    const name = nameOf(error)
    if (name === 'PreconditionFailed' || name === 'ConditionalRequestConflict') return
    if (name !== 'NotImplemented') throw error
    await client.send(new PutObjectCommand(object))
  }
}

const errorTexts: Record<string, string> = {
  NoSuchBucket: 'does not exist: create it, or correct PARLEY_MEDIA_URL',
  InvalidAccessKeyId: 'does not know the access key: correct AWS_ACCESS_KEY_ID',
  SignatureDoesNotMatch: 'rejected the secret key: correct AWS_SECRET_ACCESS_KEY',
  CredentialsProviderError: 'needs an access key: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
  AccessDenied: 'denied access: allow the access key to list, read, write and delete',
  AuthorizationHeaderMalformed: 'is in another region: correct the region in PARLEY_MEDIA_URL',
  PermanentRedirect: 'is in another region: correct the region in PARLEY_MEDIA_URL',
}
const fullNames = ['QuotaExceeded', 'XMinioStorageFull', 'InsufficientStorage', 'EntityTooLarge']

function toStoreError(storeDescription: string, error: unknown): StoreError {
  const name = nameOf(error)
  const detail = storeDescription[0]?.toUpperCase() + storeDescription.slice(1)
  const refusal = errorTexts[name]
  if (refusal !== undefined) return new StoreError('refused', `${detail} ${refusal} (${name})`, error)
  if (fullNames.includes(name)) return new StoreError('full', `${detail} is full (${name}): free up space`, error)
  return new StoreError('unreachable', `${detail} returned an unexpected error (${name})`, error)
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'an error'
}
