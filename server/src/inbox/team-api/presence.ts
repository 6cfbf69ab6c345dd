import { randomUUID } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/db.ts'

export const presenceStates = ['viewing', 'typing'] as const
export type PresenceState = (typeof presenceStates)[number]

/** How long it is believed that somebody is there after they said so. */
export const presentForMs = 20_000

export interface Present {
  userId: string
  state: PresenceState
}

export interface OpenConversation {
  workspaceId: string
  conversationId: string
}

/** Who has which conversation open. Held in memory alone: it is true for seconds. */
export interface Presence {
  /** Null: no more. Other nodes are told. */
  say(conversation: OpenConversation, userId: string, state: PresenceState | null): void
  /** In the order in which they came. */
  who(conversation: OpenConversation): Present[]
  /** Forgets those who have not been heard of. */
  sweep(): void
}

export interface PresenceDeps {
  db: Db
  clock: Clock
  /** Somebody came, went, or does something else. */
  changed(conversation: OpenConversation): void
  onError(error: unknown): void
}

interface Said extends OpenConversation {
  from: string
  userId: string
  state: PresenceState | null
}

const channel = 'inbox_presence'

export async function openPresence({ db, clock, changed, onError }: PresenceDeps): Promise<Presence> {
  const self = randomUUID()
  const rooms = new Map<
    string,
    { conversation: OpenConversation; people: Map<string, { state: PresenceState; until: number }> }
  >()

  const apply = (conversation: OpenConversation, userId: string, state: PresenceState | null) => {
    const key = `${conversation.workspaceId} ${conversation.conversationId}`
    const room = rooms.get(key) ?? { conversation, people: new Map() }
    const before = stateNow(room.people.get(userId))
    if (state === null) room.people.delete(userId)
    else room.people.set(userId, { state, until: clock.now().getTime() + presentForMs })
    if (room.people.size === 0) rooms.delete(key)
    else rooms.set(key, room)
    if (before !== state) changed(conversation)
  }
  const stateNow = (entry: { state: PresenceState; until: number } | undefined) =>
    entry !== undefined && entry.until > clock.now().getTime() ? entry.state : null

  await db.listen(channel, (payload) => {
    const { from, workspaceId, conversationId, userId, state } = JSON.parse(payload) as Said
    if (from !== self) apply({ workspaceId, conversationId }, userId, state)
  })

  return {
    say: (conversation, userId, state) => {
      apply(conversation, userId, state)
      const said: Said = { from: self, ...conversation, userId, state }
      db.sql`select pg_notify(${channel}, ${JSON.stringify(said)})`.catch(onError)
    },
    who: ({ workspaceId, conversationId }) => {
      const { people } = rooms.get(`${workspaceId} ${conversationId}`) ?? { people: new Map() }
      return [...people].flatMap(([userId, entry]) => {
        const state = stateNow(entry)
        return state === null ? [] : [{ userId, state }]
      })
    },
    sweep: () => {
      for (const [key, { conversation, people }] of rooms) {
        const before = people.size
        for (const [userId, entry] of people) if (stateNow(entry) === null) people.delete(userId)
        if (people.size === 0) rooms.delete(key)
        if (people.size < before) changed(conversation)
      }
    },
  }
}
