import type { Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import type { Message } from '../conversation/message.ts'
import { messageTokens } from './message-tokens.ts'
import { holdProgress } from './progress.ts'
import { dropMessageTokens, putMessageTokens } from './put-tokens.ts'

/** Makes the tokens of a message those of what it says now; those of one that is too new are still to be made. */
export async function renewTokens(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  { id, text }: Pick<Message, 'id' | 'text'>,
): Promise<void> {
  const { messagesTo } = await holdProgress(tx, workspaceId)
  if (id > messagesTo) return
  const epoch = await epochOf(tx, workspaceId, id)
  const tokens = messageTokens(keyring, text, epoch)
  if (tokens.length === 0) await dropMessageTokens(tx, workspaceId, [id])
  else await putMessageTokens(tx, keyring, workspaceId, [{ id, epoch, tokens }])
}

/** That of the message before, where it has none itself: epochs follow each other as the ids do. */
async function epochOf(tx: Tx, workspaceId: string, id: string): Promise<number> {
  const [before] = await tx<{ epoch: number }[]>`
    select epoch
    from message_search
    where workspace_id = ${workspaceId}
      and message_id <= ${id}
    order by message_id desc
    limit 1`
  return before?.epoch ?? 0
}
