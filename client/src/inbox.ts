import { type Caller, type CallOptions, pathOf } from './call.ts'
import { Listing } from './listing.ts'
import type {
  Conversation,
  GetConversationAnswer,
  ListConversationsAnswer,
  ListConversationsQuery,
  ListMessagesAnswer,
  ListTemplatesAnswer,
  ListTemplatesQuery,
  Message,
  RecordEchoAnswer,
  RecordEchoBody,
  SendResult,
  Template,
  TemplateToSend,
  TextToSend,
  UpdateConversationAnswer,
  UpdateConversationBody,
} from './types.ts'

export type ConversationFilter = Omit<ListConversationsQuery, 'cursor'>

export interface SendOptions extends CallOptions {
  /** Unique per message, same for all attempts. Default: generated; set it if a restarted program may send again. */
  idempotencyKey?: string
}

const path = 'api/v1/inbox'
// Allows for a slow platform, and for earlier sends in the same conversation.
const sendTimeoutMs = 90_000

/** The chat inbox: conversations, messages, templates. */
export class Inbox {
  readonly #call: Caller

  constructor(call: Caller) {
    this.#call = call
  }

  /** Lists conversations, most recently changed first. */
  conversations(filter: ConversationFilter = {}, options?: CallOptions): Listing<Conversation> {
    return new Listing(async (cursor) => {
      const query = { limit: 100, ...filter, cursor }
      const call = { method: 'GET', path: `${path}/conversations`, query, isRepeatable: true } as const
      const { conversations: items, cursor: next } = await this.#call<ListConversationsAnswer>(call, options)
      return { items, cursor: next }
    })
  }

  async conversation(id: string, options?: CallOptions): Promise<Conversation> {
    const call = { method: 'GET', path: at(id), isRepeatable: true } as const
    return (await this.#call<GetConversationAnswer>(call, options)).conversation
  }

  /** Lists messages, newest first: `take(20)` returns the last twenty. */
  messages(conversationId: string, options?: CallOptions & { limit?: number }): Listing<Message> {
    return new Listing(async (before) => {
      const query = { limit: options?.limit ?? 50, before }
      const call = { method: 'GET', path: `${at(conversationId)}/messages`, query, isRepeatable: true } as const
      const { messages, has_more } = await this.#call<ListMessagesAnswer>(call, options)
      const oldest = messages[0]
      return { items: messages.reverse(), cursor: has_more && oldest !== undefined ? oldest.occurred_at : null }
    })
  }

  /** Sends a text or an approved template; retries never send it twice. */
  send(
    conversationId: string,
    message: string | TextToSend | TemplateToSend,
    options: SendOptions = {},
  ): Promise<SendResult> {
    const body = typeof message === 'string' ? { kind: 'text', text: message } : message
    const idempotencyKey = options.idempotencyKey ?? newIdempotencyKey()
    const to = `${at(conversationId)}/messages`
    const call = {
      method: 'POST',
      path: to,
      body,
      idempotencyKey,
      isRepeatable: true,
      timeoutMs: sendTimeoutMs,
    } as const
    return this.#call(call, options)
  }

  async markRead(conversationId: string, options?: CallOptions): Promise<void> {
    await this.#call({ method: 'POST', path: `${at(conversationId)}/read`, isRepeatable: true }, options)
  }

  /** Changes owner, status or labels, or adds a note. */
  async update(id: string, changes: UpdateConversationBody, options?: CallOptions): Promise<Conversation> {
    // A retry would duplicate the note.
    const isRepeatable = changes.note === undefined
    const call = { method: 'PATCH', path: at(id), body: changes, isRepeatable } as const
    return (await this.#call<UpdateConversationAnswer>(call, options)).conversation
  }

  /** Records a message that your own app has sent on the same number. */
  recordEcho(echo: RecordEchoBody, options?: CallOptions): Promise<RecordEchoAnswer> {
    return this.#call({ method: 'POST', path: `${path}/echoes`, body: echo, isRepeatable: true }, options)
  }

  async templates(filter: ListTemplatesQuery = {}, options?: CallOptions): Promise<Template[]> {
    const call = { method: 'GET', path: `${path}/templates`, query: filter, isRepeatable: true } as const
    return (await this.#call<ListTemplatesAnswer>(call, options)).templates
  }
}

const at = (id: string): string => `${path}/conversations/${pathOf(id)}`

// 128 random bits. Pages without HTTPS have no `crypto.randomUUID`.
const newIdempotencyKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
