import { createHmac, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import multipart from '@fastify/multipart'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../../server/src/base/route.ts'
import { takeFault } from '../faults.ts'
import { sendNotFound, serveFile } from '../file-routes.ts'
import { bytesOf, type StoredFile, TooManyBytes } from '../files/file-store.ts'
import { addDimensions } from '../files/inspect-file.ts'
import type { FileKind } from '../files/present-file.ts'
import type { Platform } from '../platform.ts'
import type { BusinessNumber } from '../world.ts'
import { answerWithFault } from './fault-answer.ts'
import { GraphError, invalidParameter, unknownObject } from './graph-error.ts'

/** Accepts an upload as the platform does and stores it for 30 days. */
async function storeUpload(
  platform: Platform,
  { numberId }: BusinessNumber,
  request: FastifyRequest,
): Promise<StoredFile> {
  let file: StoredFile | null = null
  const fields = new Map<string, unknown>()
  try {
    for await (const part of request.parts()) {
      if (part.type === 'field') {
        fields.set(part.fieldname, part.value)
        continue
      }
      if (file !== null || part.fieldname !== 'file') throw invalidParameter('Param file must be one file.')
      const metadata = { mimeType: part.mimetype, name: part.filename || null }
      file = await platform.files.addStream(numberId, part.file, metadata, maxBytes)
    }
    return addDimensions(checked(file, fields))
  } catch (error) {
    if (file !== null) platform.files.remove(file.id)
    if (error instanceof TooManyBytes) throw tooLarge(maxBytes)
    throw error instanceof GraphError ? error : invalidParameter('The form cannot be read.')
  }
}

function checked(file: StoredFile | null, fields: ReadonlyMap<string, unknown>): StoredFile {
  if (fields.get('messaging_product') !== 'whatsapp') {
    throw invalidParameter('The parameter messaging_product is required.')
  }
  if (file === null) throw invalidParameter('The parameter file is required.')
  file.mimeType = String(fields.get('type') || file.mimeType)
  const most = bytesAllowed(file.mimeType)
  if (most === null) {
    throw invalidParameter(
      `Param file must be a file with one of the following types: ${acceptedTypes.join(', ')}. ` +
        `Received file of type '${bareType(file.mimeType).slice(0, 100)}'.`,
    )
  }
  if (file.size === 0) throw new GraphError(131053, { details: 'The file is empty.' })
  if (file.size > most) throw tooLarge(most)
  return file
}

const tooLarge = (most: number): GraphError =>
  new GraphError(131053, { details: `File size is too large: a file of this type may have ${most} bytes.` })

const megabyte = 1024 * 1024

interface Accepted {
  types: readonly string[]
  bytes: number
}

const images: Accepted = { types: ['image/jpeg', 'image/png'], bytes: 5 * megabyte }
const stickers: Accepted = { types: ['image/webp'], bytes: 500 * 1024 }
const videos: Accepted = { types: ['video/mp4', 'video/3gpp'], bytes: 16 * megabyte }
const sounds: Accepted = {
  types: ['audio/aac', 'audio/mp4', 'audio/mpeg', 'audio/amr', 'audio/ogg', 'audio/opus'],
  bytes: 16 * megabyte,
}
const documents: Accepted = {
  types: [
    'application/vnd.ms-powerpoint',
    'application/msword',
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    'application/vnd.openxmlformats-officedocument.presentationml.presentation',
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    'application/pdf',
    'text/plain',
    'application/vnd.ms-excel',
  ],
  bytes: 100 * megabyte,
}

const all = [sounds, documents, images, stickers, videos]

/** Every type that the platform accepts, in the order in which its errors list them. */
const acceptedTypes: readonly string[] = all.flatMap(({ types }) => types)

/** Largest size that the platform accepts for any type. */
const maxBytes = documents.bytes

/** Returns the type without its parameters. */
const bareType = (mimeType: string): string => mimeType.split(';', 1)[0]?.trim().toLowerCase() ?? ''

/** Returns the size limit of a type; null if the platform does not accept it. */
const bytesAllowed = (mimeType: string): number | null =>
  all.find(({ types }) => types.includes(bareType(mimeType)))?.bytes ?? null

const sendable: Record<FileKind, readonly string[] | null> = {
  image: images.types,
  sticker: stickers.types,
  video: videos.types,
  audio: sounds.types,
  voice: ['audio/ogg', 'audio/opus'],
  // Any accepted type can be sent as a document.
  document: null,
}

/** Returns whether a file of this type can be sent as a message of this kind. */
export const canSendAs = (kind: FileKind, mimeType: string): boolean =>
  sendable[kind]?.includes(bareType(mimeType)) ?? true

const addressLivesMs = 5 * 60_000
const keptPath = '/whatsapp_business/attachments/'

// Addresses become invalid when the process ends, as its files do.
const addressKey = randomBytes(32)

/** Parses multipart forms part by part. The file store enforces the size limit. */
export const parseForms = async (app: App): Promise<void> => {
  await app.register(multipart, { limits: { parts: 20, fieldSize: 16 * 1024, fileSize: Number.MAX_SAFE_INTEGER } })
}

/** Adds a call to the journal; for a form or a file, only the fact that it was one. */
export const noteCall = (platform: Platform, request: FastifyRequest): void =>
  platform.journal.add({
    kind: 'call',
    at: platform.clock.now(),
    method: request.method,
    path: request.url.split('?')[0] ?? '',
    body: request.isMultipart() ? { form: true } : request.body instanceof Readable ? { file: true } : request.body,
  })

/** Accepts an upload for a number, unless a fault applies. */
export async function answerUpload(
  platform: Platform,
  number: BusinessNumber,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const fault = takeFault(platform.faults, 'upload', [])
  if (!request.isMultipart()) throw invalidParameter('The parameter messaging_product is required.')
  const file = await storeUpload(platform, number, request)
  const answer = () => ({ id: file.id })
  if (fault === undefined) return answer()
  if (fault.effect === 'fail') throw new GraphError(fault.code)
  return answerWithFault(platform, fault, reply, answer)
}

/** Returns a file of a number. Throws the platform's error for files of other numbers. */
export function fileOf({ files }: Platform, number: BusinessNumber, id: string): StoredFile {
  const file = files.find(id)
  if (file === undefined || file.numberId !== number.numberId) throw unknownObject(id)
  return file
}

/** Answers a file's address, valid for five minutes, unless a fault applies. `host`: the platform or its file store. */
export function answerAddress(platform: Platform, file: StoredFile, host: string, reply: FastifyReply): unknown {
  const fault = takeFault(platform.faults, 'media', [])
  const now = platform.clock.now().getTime()
  const metadata = {
    messaging_product: 'whatsapp',
    url: host + addressOf(file, now + addressLivesMs),
    mime_type: file.mimeType,
    // Callbacks encode it in base64.
    sha256: file.sha256.toString('hex'),
    file_size: file.size,
    id: file.id,
  }
  if (fault === undefined) return metadata
  switch (fault.effect) {
    case 'not_found':
      throw unknownObject(file.id)
    case 'expired':
      return { ...metadata, url: host + addressOf(file, now - 1000) }
    case 'wrong_size':
      return { ...metadata, file_size: file.size + 1000 }
    case 'wrong_type':
      return { ...metadata, mime_type: 'text/html' }
    case 'wrong_hash':
      return { ...metadata, sha256: '0'.repeat(64) }
    case 'slow':
      platform.scheduler.after(fault.afterMs, () => void reply.send(metadata))
      return reply
    default:
      return answerWithFault(platform, fault, reply, () => metadata)
  }
}

function addressOf({ id }: StoredFile, endsMs: number): string {
  const ends = String(Math.floor(endsMs / 1000))
  return `${keptPath}?mid=${id}&ext=${ends}&hash=${signatureOf(id, ends)}`
}

const signatureOf = (id: string, ends: string): string =>
  createHmac('sha256', addressKey).update(`${id} ${ends}`).digest('base64url')

type BytesRequest = FastifyRequest<{ Querystring: { mid?: string; ext?: string; hash?: string } }>

/** Serves the addresses: requires the number's credential, and that they have not expired. */
export function bytesRoute(app: App, platform: Platform): void {
  app.get(keptPath, { schema: { hide: true } }, (request: BytesRequest, reply) => {
    const { mid = '', ext = '', hash } = request.query
    const file = platform.files.find(mid)
    const numbers = [...platform.world.numbers.values()].filter((number) => isAuthorized(number, request))
    if (numbers.length === 0) return reply.code(401).type('text/plain').send('')
    const isGood = hash === signatureOf(mid, ext) && Number(ext) * 1000 > platform.clock.now().getTime()
    const isTheirs = numbers.some(({ numberId }) => numberId === file?.numberId)
    if (file === undefined || !isGood || !isTheirs) return sendNotFound(reply)
    return serveFile(platform, reply, { mimeType: file.mimeType, size: file.size, bytes: () => bytesOf(file) })
  })
}

// A partner's file store checks its key, the platform's own checks the token; neither accepts them in the address.
function isAuthorized(
  { partner, accessToken, network, tokenState }: BusinessNumber,
  { headers }: BytesRequest,
): boolean {
  if (!['valid', 'temporary'].includes(tokenState) || network !== 'official') return false
  if (partner !== null && headers['d360-api-key'] === partner.apiKey) return true
  return headers.authorization === `Bearer ${accessToken}`
}
