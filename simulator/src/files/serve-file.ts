import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { type Fault, takeFault } from '../faults.ts'
import { answerBadly } from '../graph/fault-answer.ts'
import type { Platform } from '../platform.ts'

/** What is to be sent, whole, to who may have it. */
export interface Served {
  mimeType: string
  size: number
  bytes: () => Readable
}

/** Sends a file as the platform does, or as a fault says. */
export function serveFile(platform: Platform, reply: FastifyReply, file: Served): FastifyReply {
  const fault = takeFault(platform.faults, 'file', [])
  return fault === undefined ? sendWhole(reply, file) : sendWrongly(platform, reply, file, fault)
}

const sendWhole = (reply: FastifyReply, { mimeType, size, bytes }: Served): FastifyReply =>
  reply.type(mimeType).header('content-length', size).send(bytes())

function sendWrongly(platform: Platform, reply: FastifyReply, file: Served, fault: Fault): FastifyReply {
  switch (fault.effect) {
    case 'expired':
    case 'not_found':
      return notThere(reply)
    case 'slow':
      return reply
        .type(file.mimeType)
        .header('content-length', file.size)
        .send(inPieces(platform, file, fault.afterMs))
    // As many bytes as it says, which are fewer than were told before.
    case 'wrong_size': {
      const size = Math.floor(file.size / 2)
      return reply
        .type(file.mimeType)
        .header('content-length', size)
        .send(changed(file, (all) => all.subarray(0, size)))
    }
    case 'wrong_type':
      return reply.type('text/html; charset=utf-8').send('<!doctype html><script>alert(1)</script>')
    case 'wrong_hash':
      return reply.type(file.mimeType).header('content-length', file.size).send(changed(file, otherEnd))
    case 'endless':
      return reply.type(file.mimeType).send(endless(file))
    case 'late':
      platform.agenda.after(fault.afterMs, () => void sendWhole(reply, file))
      return reply
    case 'refuse':
      return reply
        .code(fault.httpStatus ?? 403)
        .type('text/plain')
        .send('')
    default:
      return answerBadly(fault, reply) as FastifyReply
  }
}

/** What an address leads to that is no good, or not any more. */
export const notThere = (reply: FastifyReply): FastifyReply => reply.code(404).type('text/plain').send('Not Found')

const changed = ({ bytes }: Served, change: (all: Buffer) => Buffer): Readable =>
  Readable.from(
    (async function* () {
      yield change(Buffer.concat(await bytes().toArray()))
    })(),
  )

// The same length and type, and one bit of the end is another.
function otherEnd(all: Buffer): Buffer {
  const other = Buffer.from(all)
  const last = other.length - 1
  other[last] = (other[last] ?? 0) ^ 1
  return other
}

const pieces = 10

/** A file that takes its time: a piece now, and the next ones with waits between them. */
function inPieces({ agenda }: Platform, { bytes }: Served, overMs: number): Readable {
  return Readable.from(
    (async function* () {
      const all = Buffer.concat(await bytes().toArray())
      const length = Math.max(1, Math.ceil(all.length / pieces))
      for (let at = 0; at < all.length; at += length) {
        if (at > 0) await new Promise<void>((resolve) => agenda.after(overMs / pieces, resolve))
        yield all.subarray(at, at + length)
      }
    })(),
  )
}

const zeros = Buffer.alloc(64 * 1024)

/** Begins as the file does, and goes on until whoever asked goes away. */
const endless = ({ bytes }: Served): Readable =>
  Readable.from(
    (async function* () {
      yield* bytes()
      for (;;) yield zeros
    })(),
  )
