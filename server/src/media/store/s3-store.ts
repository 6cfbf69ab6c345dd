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

/** The smallest that S3 takes for a part. Each file that is on its way takes so much memory, or twice as much. */
const partBytes = 5 * 1024 * 1024
const attempts = 4
const connectWithinMs = 5_000
const silentForMs = 30_000
const maxListed = 1_000

/** Keeps files in a bucket, which must be there. Any number of nodes may share it. */
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
      // One part after the other: several at once would take memory for each.
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
          // Then the store has rules of its own for them.
          if (nameOf(error) !== 'NotImplemented') throw error
          return 0
        }
      }),
    readMark,
    writeMark: (text) =>
      translate(async () => {
        // Not every store knows the condition that the next one makes.
        if ((await readMark()) !== null) return
        await putIfAbsent(client, { Bucket: bucket, Key: prefix + markName, Body: text })
      }),
    close: async () => client.destroy(),
  }
}

function clientConfig({ region, endpoint, credentials }: S3Address): S3ClientConfig {
  return {
    region,
    // Without them, where the client finds them by itself: a profile, or the role of the machine.
    ...(credentials !== null && { credentials }),
    ...(endpoint !== null && { endpoint, forcePathStyle: true }),
    maxAttempts: attempts,
    // Files are sealed, and what was altered does not open. Not every store knows the newer checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: connectWithinMs,
      socketTimeout: silentForMs,
      requestTimeout: silentForMs,
      throwOnRequestTimeout: true,
    },
  }
}

const rangeHeader = (start: number, end: number | null) => `bytes=${start}-${end === null ? '' : end - 1}`

/** Counts what passes, and keeps what the source itself has failed with. */
function countBytes(bytes: AsyncIterable<Uint8Array>) {
  let total = 0
  let failure: unknown
  const pass = async function* () {
    try {
      for await (const part of bytes) {
        total += part.length
        // What is to be sent waits until there is enough of it; the giver may write over it before.
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

/** By the older of the two lists: every store knows it, and it goes on behind a key as we do. */
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
    // A page may hold little but what is not ours.
    if (found.length === limit || page.IsTruncated !== true) return found
  }
}

async function abortUploads(client: S3Client, place: BucketPrefix, before: Date): Promise<number> {
  let dropped = 0
  for (;;) {
    const page = await client.send(new ListMultipartUploadsCommand(place))
    const old = (page.Uploads ?? []).filter(({ Initiated }) => Initiated !== undefined && Initiated < before)
    for (const { Key, UploadId } of old) {
      await client.send(new AbortMultipartUploadCommand({ Bucket: place.Bucket, Key, UploadId }))
    }
    dropped += old.length
    // What was dropped is not listed again; without any on a page the rest waits for the next time.
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
  NoSuchBucket: 'is not there: make it, or correct PARLEY_MEDIA_URL',
  InvalidAccessKeyId: 'does not know the access key: correct AWS_ACCESS_KEY_ID',
  SignatureDoesNotMatch: 'does not take the secret key: correct AWS_SECRET_ACCESS_KEY',
  CredentialsProviderError: 'needs an access key: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
  AccessDenied: 'is closed to this access key: let it list, read, write and delete there',
  AuthorizationHeaderMalformed: 'is in another region: put the right one into PARLEY_MEDIA_URL',
  PermanentRedirect: 'is in another region: put the right one into PARLEY_MEDIA_URL',
}
const fullNames = ['QuotaExceeded', 'XMinioStorageFull', 'InsufficientStorage', 'EntityTooLarge']

function toStoreError(words: string, error: unknown): StoreError {
  const name = nameOf(error)
  const detail = words[0]?.toUpperCase() + words.slice(1)
  const refusal = errorTexts[name]
  if (refusal !== undefined) return new StoreError('refused', `${detail} ${refusal} (${name})`, error)
  if (fullNames.includes(name)) return new StoreError('full', `${detail} is full (${name}): make room there`, error)
  return new StoreError('unreachable', `${detail} does not answer as it should (${name})`, error)
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'an error'
}
