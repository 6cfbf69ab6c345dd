import type { FastifyReply } from 'fastify'
import { takeFault } from '../faults.ts'
import type { Platform } from '../platform.ts'
import type { BusinessNumber } from '../world.ts'
import { acceptRead, acceptSend } from './accept.ts'
import { checkSend } from './check-send.ts'
import { answerWithFault } from './fault-answer.ts'
import { GraphError } from './graph-error.ts'

/** Takes a message or a mark of reading for a number, unless a fault meets it. */
export function takeMessage(platform: Platform, number: BusinessNumber, body: unknown, reply: FastifyReply): unknown {
  if (!number.registered) throw new GraphError(133010)
  const checked = checkSend(body, number, { templates: platform.world.templates.values(), files: platform.files })
  if (checked.act === 'read') {
    const answer = () => acceptRead(platform, number, checked.messageId)
    const fault = takeFault(platform.faults, 'read', [])
    return fault === undefined ? answer() : answerWithFault(platform, fault, reply, answer)
  }
  const fault = takeFault(platform.faults, 'send', [checked.to.phone, checked.to.userId])
  if (fault === undefined) return acceptSend(platform, number, checked, null)
  return answerWithFault(platform, fault, reply, (failWith) => acceptSend(platform, number, checked, failWith))
}
