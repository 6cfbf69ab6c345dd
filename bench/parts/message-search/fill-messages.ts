import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setStatementTimeout } from '../../../server/src/base/db.ts'
import { newId } from '../../../server/src/base/id.ts'
import { encryptMessage } from '../../../server/src/inbox/conversation/message.ts'
import type { Filling } from '../../fill.ts'
import type { SeededConnection } from '../../inbox-seed.ts'
import { chatText } from './chat-words.ts'

const atOnce = 20_000
const apartMs = 100

/** Fills the conversations in turn with readable messages, up to ten minutes old, by COPY. */
export async function fillChats(filling: Filling, connection: SeededConnection, count: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-messages-'))
  // The database runs as another user.
  await chmod(folder, 0o755)
  const file = join(folder, 'messages.csv')
  try {
    for (let from = 0; from < count; from += atOnce) {
      const to = Math.min(count, from + atOnce)
      const lines = Array.from({ length: to - from }, (_, n) => lineOf(filling, connection, from + n, count))
      await writeFile(file, lines.join(''), { mode: 0o644 })
      await filling.db.tx(async (tx) => {
        await setStatementTimeout(tx, 600_000)
        await tx.unsafe(`
          copy messages (
            workspace_id, id, conversation_id, connection_id, direction, kind, origin, content, external_index, status,
            occurred_at, created_at
          )
          from '${file}' with (format csv)`)
      })
    }
  } finally {
    await rm(folder, { recursive: true })
  }
}

function lineOf(
  { keyring, workspaceId, now }: Filling,
  { id: connectionId, conversations }: SeededConnection,
  n: number,
  count: number,
): string {
  const at = new Date(now.getTime() - 600_000 - (count - n) * apartMs)
  // Each conversation gets several messages in a row before the next one.
  const conversationId = conversations[(Math.floor(n / 5) * 7919) % conversations.length] ?? ''
  const isInbound = n % 2 === 0
  const row = encryptMessage(keyring, {
    id: newId(at),
    conversationId,
    connectionId,
    direction: isInbound ? 'inbound' : 'outbound',
    kind: 'text',
    origin: 'live',
    text: chatText(n, count),
    referral: null,
    externalId: null,
    status: 'delivered',
    errorCode: null,
    actor: null,
    occurredAt: at,
    createdAt: at,
    settleBy: null,
  })
  const time = at.toISOString()
  const content = `\\x${row.content.toString('hex')}`
  const index = `\\x${randomBytes(16).toString('hex')}`
  return `${workspaceId},${row.id},${conversationId},${connectionId},${row.direction},text,live,${content},${index},delivered,${time},${time}\n`
}
