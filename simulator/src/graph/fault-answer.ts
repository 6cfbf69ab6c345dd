import type { FastifyReply } from 'fastify'
import { type Fault, takeFault } from '../faults.ts'
import type { Platform } from '../platform.ts'
import { GraphError } from './graph-error.ts'

const htmlBody =
  '<!DOCTYPE html><html><head><title>Error</title></head><body><h1>Sorry, something went wrong.</h1></body></html>'

/** Answers the result of `accept`, as the platform normally does, or as a matching fault says. */
export function answerOr(
  platform: Platform,
  reply: FastifyReply,
  on: Fault['on'],
  accept: (failWith: number | null) => object,
  recipient: readonly (string | null)[] = [],
): unknown {
  const fault = takeFault(platform.faults, on, recipient)
  return fault === undefined ? accept(null) : answerWithFault(platform, fault, reply, accept)
}

/** Answers as the fault says; `accept` produces the platform's normal answer. */
export function answerWithFault(
  platform: Platform,
  fault: Fault,
  reply: FastifyReply,
  accept: (failWith: number | null) => object,
): unknown {
  switch (fault.effect) {
    case 'fail':
      return accept(fault.code)
    case 'refuse': {
      const error = new GraphError(fault.code)
      return reply.code(fault.httpStatus ?? error.httpStatus).send(error.body)
    }
    case 'late': {
      const answer = accept(null)
      platform.scheduler.after(fault.afterMs, () => void reply.send(answer))
      return reply
    }
    default:
      if (fault.accepts) accept(null)
      return answerBadly(fault, reply)
  }
}

export function answerBadly(fault: Fault, reply: FastifyReply): unknown {
  switch (fault.effect) {
    case 'hang':
      // Stays open until the caller times out or the simulator stops.
      return reply.hijack()
    case 'reset':
      reply.hijack()
      reply.raw.socket?.resetAndDestroy()
      return reply
    case 'html':
      return reply
        .code(fault.httpStatus ?? 502)
        .type('text/html; charset=utf-8')
        .send(htmlBody)
    case 'garbage':
      return reply
        .code(fault.httpStatus ?? 200)
        .type('application/json')
        .serializer(String)
        .send('{"messages":[{')
    default:
      return reply.code(fault.httpStatus ?? 500).send(new GraphError(131000).body)
  }
}
