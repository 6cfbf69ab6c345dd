import { decryptConversation } from '../inbox/conversation/encrypted-conversation.ts'
import { lockConversation, requireConversation } from '../inbox/conversation/queries.ts'
import { readTimeline } from '../inbox/read/timeline.ts'
import type { DraftDeps } from '../knowledge/conversation-draft.ts'
import { createEmbedder, type Embedder } from '../knowledge/embeddings.ts'
import type { Runtime } from './runtime.ts'

/** Returns what computes vectors of texts; null unless an endpoint is set. */
export function embedderOf(runtime: Runtime): Embedder | null {
  const { embeddings } = runtime.config
  return embeddings === null ? null : createEmbedder(runtime, embeddings)
}

/** Newest items of a conversation of which an article is made. */
const maxItems = 100

type ConversationReader = Pick<DraftDeps, 'readConversation' | 'lockConversation'>

/** Returns how conversations are read for drafts of articles, as people see them: without withdrawn messages and files. */
export function conversationReader({ db, keyStore }: Pick<Runtime, 'db' | 'keyStore'>): ConversationReader {
  const lock: ConversationReader['lockConversation'] = async (tx, keyring, workspaceId, id) =>
    (await lockConversation({ tx, keyring }, { workspaceId, connectionIds: [] }, id)) !== undefined
  const read: ConversationReader['readConversation'] = (workspaceId, conversationId) =>
    keyStore.withKeyring(workspaceId, async (keyring) => {
      const scope = { workspaceId, connectionIds: [] }
      const row = await requireConversation(db.sql, scope, conversationId)
      const { id, status, contact } = decryptConversation(keyring, row)
      const { items } = await readTimeline({ sql: db.sql, keyring, ...scope }, id, { limit: maxItems, from: null })
      const messages = items.flatMap((item) => {
        if (item.type !== 'message') return []
        const { direction, kind, text, status: delivery, revision } = item.message
        const isSaid =
          (kind === 'text' || kind === 'template') &&
          delivery !== 'failed' &&
          revision?.withdrawnAt == null &&
          text !== ''
        return isSaid ? [{ isCustomer: direction === 'inbound', text }] : []
      })
      const isResolved = status === 'resolved' || status === 'closed'
      return { conversationId: id, isResolved, customerName: contact.name, messages }
    })
  return { readConversation: read, lockConversation: lock }
}
