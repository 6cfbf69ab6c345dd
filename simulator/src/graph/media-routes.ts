import { createHmac, randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../../server/src/base/route.ts'
import { takeFault } from '../faults.ts'
import { bytesOf, type StoredFile } from '../files/file-store.ts'
import { notThere, serveFile } from '../files/serve-file.ts'
import { isStream } from '../files/take-file.ts'
import type { Platform } from '../platform.ts'
import type { BusinessNumber } from '../world.ts'
import { answerWithFault } from './fault-answer.ts'
import { GraphError, invalidParameter, unknownObject } from './graph-error.ts'
import { takeUpload } from './take-upload.ts'

const addressLivesMs = 5 * 60_000
const keptPath = '/whatsapp_business/attachments/'

// Addresses end with the process, as its files do.
const addressKey = randomBytes(32)

/** Lets forms through as they come. */
export const takeForms = (app: App): void => {
  app.addContentTypeParser('multipart/form-data', (_request, payload, done) => done(null, payload))
}

/** What a call says in the journal: of a form, that it was one. */
export const notedBody = (body: unknown): unknown => (isStream(body) ? { form: true } : body)

/** Takes an upload of a number, unless a fault meets it. */
export async function answerUpload(
  platform: Platform,
  number: BusinessNumber,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const fault = takeFault(platform.faults, 'upload', [])
  if (!isStream(request.body)) throw invalidParameter('The parameter messaging_product is required.')
  const file = await takeUpload(platform, number, request.headers['content-type'] ?? '', request.body)
  const answer = () => ({ id: file.id })
  if (fault === undefined) return answer()
  if (fault.effect === 'fail') throw new GraphError(fault.code)
  return answerWithFault(platform, fault, reply, answer)
}

/** A file of a number; throws what the platform says of one that is not its own. */
export function fileOf({ files }: Platform, number: BusinessNumber, id: string): StoredFile {
  const file = files.find(id)
  if (file === undefined || file.numberId !== number.numberId) throw unknownObject(id)
  return file
}

/** Tells where a file is, for five minutes, unless a fault meets it. `host`: the platform's own, or that of its store of files. */
export function answerWhereabouts(platform: Platform, file: StoredFile, host: string, reply: FastifyReply): unknown {
  const fault = takeFault(platform.faults, 'media', [])
  const now = platform.clock.now().getTime()
  const told = {
    messaging_product: 'whatsapp',
    url: host + addressOf(file, now + addressLivesMs),
    mime_type: file.mimeType,
    // Callbacks tell it in base64.
    sha256: file.sha256.toString('hex'),
    file_size: file.size,
    id: file.id,
  }
  if (fault === undefined) return told
  switch (fault.effect) {
    case 'not_found':
      throw unknownObject(file.id)
    case 'expired':
      return { ...told, url: host + addressOf(file, now - 1000) }
    case 'wrong_size':
      return { ...told, file_size: file.size + 1000 }
    case 'wrong_type':
      return { ...told, mime_type: 'text/html' }
    case 'wrong_hash':
      return { ...told, sha256: '0'.repeat(64) }
    case 'slow':
      platform.agenda.after(fault.afterMs, () => void reply.send(told))
      return reply
    default:
      return answerWithFault(platform, fault, reply, () => told)
  }
}

function addressOf({ id }: StoredFile, endsMs: number): string {
  const ends = String(Math.floor(endsMs / 1000))
  return `${keptPath}?mid=${id}&ext=${ends}&hash=${signatureOf(id, ends)}`
}

const signatureOf = (id: string, ends: string): string =>
  createHmac('sha256', addressKey).update(`${id} ${ends}`).digest('base64url')

type BytesRequest = FastifyRequest<{ Querystring: { mid?: string; ext?: string; hash?: string } }>

/** The addresses themselves: for who shows the number's credential, as long as they are good. */
export function bytesRoute(app: App, platform: Platform): void {
  app.get(keptPath, { schema: { hide: true } }, (request: BytesRequest, reply) => {
    const { mid = '', ext = '', hash } = request.query
    const file = platform.files.find(mid)
    const numbers = [...platform.world.numbers.values()].filter((number) => isShownBy(number, request))
    if (numbers.length === 0) return reply.code(401).type('text/plain').send('')
    const isGood = hash === signatureOf(mid, ext) && Number(ext) * 1000 > platform.clock.now().getTime()
    const isTheirs = numbers.some(({ numberId }) => numberId === file?.numberId)
    if (file === undefined || !isGood || !isTheirs) return notThere(reply)
    return serveFile(platform, reply, { mimeType: file.mimeType, size: file.size, bytes: () => bytesOf(file) })
  })
}

// A partner's store of files takes its key, the platform's own the token, and neither takes it from the address.
function isShownBy({ partner, accessToken, network, tokenState }: BusinessNumber, { headers }: BytesRequest): boolean {
  if (tokenState === 'expired' || network !== 'official') return false
  if (partner !== null && headers['d360-api-key'] === partner.apiKey) return true
  return headers.authorization === `Bearer ${accessToken}`
}
