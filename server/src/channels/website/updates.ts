import type { EventEmitter } from 'node:events'
import { createSlotCounter, type SlotLimit } from '../../base/async/slots.ts'
import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/db.ts'
import type { KeyStore } from '../../base/encryption/key-store.ts'
import { tooManyRequests, unavailable } from '../../base/errors.ts'
import { type ChatMessage, readChat, readState } from './chat-log.ts'
import { type Visitor, visitorTopic } from './visitors.ts'

/** Everything that has changed in a chat. */
export interface ChatUpdate {
  messages: ChatMessage[]
  hasMore: boolean
  version: number
  readSeq: number
  isTyping: boolean
}

interface UpdateRequest {
  visitor: Visitor
  /** Number of the last message that the device has; null: none. */
  after: number | null
  /** Version of the chat that the device shows; null: none. */
  version: number | null
  waitMs: number
  /** Emits `close` when the client disconnects. */
  connection: EventEmitter
}

const pageSize = 50
/** Waiting requests. A visitor may have several tabs. */
const most = { visitor: 6, connection: 1_000, workspace: 2_000, all: 4_000 } as const

/** Creates the long polls of widgets. Messages are stored, so that one that ends or breaks loses nothing. */
export function createChatUpdates({ db, keyStore, clock }: { db: Db; keyStore: KeyStore; clock: Clock }) {
  const waiting = new Map<string, Set<() => void>>()
  const acquireSlots = createSlotCounter()
  const wakeAll = () => {
    for (const wakes of waiting.values()) for (const wake of wakes) wake()
  }
  const stop = db.subscribe(visitorTopic, (id) => {
    for (const wake of waiting.get(id) ?? []) wake()
  })
  // Messages may have been missed.
  db.onReconnect(wakeAll)
  let isClosed = false

  const read = async ({ visitor, after, version }: UpdateRequest): Promise<ChatUpdate | null | undefined> => {
    const state = await readState(db.sql, visitor)
    if (state === undefined) return undefined
    const now = clock.now()
    const isTyping = state.typingUntil !== null && state.typingUntil > now
    if (state.version === version && state.lastSeq <= (after ?? 0)) return null
    const messages = await keyStore.withKeyring(visitor.workspaceId, (keyring) =>
      readChat(db.sql, keyring, visitor, after, pageSize),
    )
    const hasMore = after !== null && messages.length === pageSize
    return { messages, hasMore, version: state.version, readSeq: state.readSeq, isTyping }
  }

  return {
    /** Returns the changes once there are some, or when the time is over; undefined if the visitor was erased. */
    next: async (request: UpdateRequest): Promise<ChatUpdate | undefined> => {
      const { visitor, waitMs, connection } = request
      const first = await read(request)
      if (first !== null) return first
      if (waitMs === 0) return unchanged(request)
      const release = acquireSlots(slotsOf(visitor))
      const ended = Promise.withResolvers<void>()
      const wakes = waiting.get(visitor.id) ?? new Set()
      waiting.set(visitor.id, wakes.add(ended.resolve))
      const timer = setTimeout(ended.resolve, waitMs)
      connection.once('close', ended.resolve)
      try {
        // A change between the first read and the subscription woke nobody.
        const second = await read(request)
        if (second !== null) return second
        if (!isClosed) await ended.promise
        const last = await read(request)
        return last === null ? unchanged(request) : last
      } finally {
        clearTimeout(timer)
        connection.off('close', ended.resolve)
        wakes.delete(ended.resolve)
        if (wakes.size === 0 && waiting.get(visitor.id) === wakes) waiting.delete(visitor.id)
        release()
      }
    },
    close: (): void => {
      isClosed = true
      stop()
      wakeAll()
    },
  }
}

const unchanged = ({ version }: UpdateRequest): ChatUpdate => ({
  ...{ messages: [], hasMore: false, version: version ?? 0, readSeq: -1, isTyping: false },
})

/** Limits of the waiting requests of a visitor, a connection and a workspace, so that no widget takes all places. */
function slotsOf({ id, connectionId, workspaceId }: Visitor): SlotLimit[] {
  const tooMany = () => tooManyRequests('The chat is open too often. Close other tabs.', 10, { code: 'RATE_LIMITED' })
  const refusal = () => unavailable('Too many chats are waiting. Ask again without `wait`.', undefined, 10)
  return [
    { who: id, most: most.visitor, refusal: tooMany },
    { who: connectionId, most: most.connection, refusal },
    { who: workspaceId, most: most.workspace, refusal },
    { who: 'all', most: most.all, refusal },
  ]
}
