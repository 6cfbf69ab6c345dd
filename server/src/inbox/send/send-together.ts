import { batch } from '../../base/async/batch.ts'
import { isUndone, violates } from '../../base/db.ts'
import { isUuid } from '../../base/id.ts'
import { readIdempotencyKey } from '../conversation/idempotency-key.ts'
import { type Judged, reserveTogether } from './reserve-together.ts'
import { finishSend, type SendRequest, sendMessage } from './send.ts'
import { readSendCommand } from './send-command.ts'
import type { ReadSend, SendAnswer, SendDeps, Sender } from './send-deps.ts'
import type { Settle } from './send-dispatch.ts'
import type { Answer } from './send-queries.ts'
import { type Sent, settleTogether } from './settle-together.ts'

export type SendMessage = (sender: Sender, request: SendRequest) => Promise<SendAnswer>

// Two transactions of a workspace at a time, and of either step.
const [groups, groupSize] = [2, 64]

/** `sendMessage` for many: agents' sends of one workspace that come in a busy moment go together; none fails with another. */
export function openSend(deps: SendDeps): SendMessage {
  const reserveMany = batch<ReadSend, Judged>({
    groups,
    groupSize,
    work: (workspaceId, sends) => reserveTogether(deps, workspaceId, sends),
    isUndone,
  })
  const settleMany = batch<Sent, Answer | null>({
    groups,
    groupSize,
    work: (workspaceId, sent) => settleTogether(deps, workspaceId, sent),
    isUndone,
  })
  const settle: Settle = (sent) => settleMany(sent.reserved.workspaceId, sent)

  return async (sender, request) => {
    const send = await deps.step('read', async () => readPlain(sender, request))
    const judged = send === null ? null : await deps.step('reserve', () => reserve(sender.workspaceId, send))
    if (judged === null) return sendMessage(deps, sender, request)
    if ('refused' in judged) throw judged.refused
    return finishSend(deps, judged.reserved, settle)
  }

  async function reserve(workspaceId: string, send: ReadSend): Promise<Judged> {
    try {
      return await reserveMany(workspaceId, send)
    } catch (error) {
      // Another node was quicker with this key.
      if (violates(error, 'sends_pkey')) return null
      throw error
    }
  }
}

/** What an agent asks for; null where `sendMessage` has to find out first what to say. */
function readPlain(
  sender: Sender,
  { conversationId, idempotencyKey, body, language, problem, seen }: SendRequest,
): ReadSend | null {
  const id = conversationId.toLowerCase()
  if (sender.actor.type !== 'agent' || language === 'whole' || !isUuid(id) || problem !== undefined) return null
  try {
    const command = readSendCommand(body, 'contract')
    return { sender, conversationId: id, key: readIdempotencyKey(idempotencyKey), command, seen }
  } catch {
    return null
  }
}
