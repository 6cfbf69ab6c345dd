import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { acceptedEncoding, type Encoding } from '../server/accepted-encoding.ts'

/** A large answer that is the same for everybody, made once: in each encoding, with the tag by which it is known again. */
export interface KeptAnswer {
  type: string
  cacheControl: string
  tag: string
  bodies: Record<Encoding, Buffer>
}

// Half a second for the largest; the best takes twenty times as long and saves a tenth.
const brotliQuality = 8

export async function keepAnswer(type: string, cacheControl: string, body: Buffer): Promise<KeptAnswer> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: brotliQuality, [constants.BROTLI_PARAM_SIZE_HINT]: body.length }
  const [br, gz] = await Promise.all([promisify(brotliCompress)(body, { params }), promisify(gzip)(body)])
  const tag = createHash('sha256').update(body).digest('base64url').slice(0, 22)
  return { type, cacheControl, tag, bodies: { br, gzip: gz, identity: body } }
}

/** Sends it as the caller likes it best, or 304 when the caller has it. */
export function sendKept(request: FastifyRequest, reply: FastifyReply, answer: KeptAnswer): FastifyReply {
  const encoding = acceptedEncoding(request.headers['accept-encoding'])
  const tag = `"${answer.tag}-${encoding}"`
  reply.headers({ etag: tag, vary: 'accept-encoding', 'cache-control': answer.cacheControl })
  if (isKnown(request.headers['if-none-match'] ?? '', tag)) return reply.code(304).send()
  if (encoding !== 'identity') reply.header('content-encoding', encoding)
  return reply.type(answer.type).send(answer.bodies[encoding])
}

function isKnown(tags: string, tag: string): boolean {
  return tags.split(',').some((each) => ['*', tag].includes(each.trim().replace(/^W\//, '')))
}
