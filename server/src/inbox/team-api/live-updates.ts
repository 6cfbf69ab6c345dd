import { randomUUID } from 'node:crypto'
import { coalesce } from '../../base/async/batch.ts'
import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/db.ts'
import type { Log } from '../../base/log.ts'
import type { Live } from '../../events/live.ts'
import {
  conversationsTopic,
  type InboxDeps,
  type MediaUpdate,
  mediaTopic,
  mentionsTopic,
} from '../conversation/conversation.ts'
import { decryptConversation } from '../conversation/encrypted-conversation.ts'
import { selectConversations } from '../conversation/queries.ts'
import { countUnreadMentions } from '../notes/mentions.ts'
import { readConversationViews, readNames } from '../read/names.ts'
import { presentTeamConversation } from './present-conversation.ts'

export interface LiveUpdateDeps extends Pick<InboxDeps, 'db' | 'keyStore' | 'clock' | 'findLeads'> {
  live: Pick<Live, 'hasStreams' | 'publish'>
  log: Log
}

/** From so many on, whoever shows a list loads it anew. */
const maxPublished = 100
/** A busy workspace is told of so often, rather than after each commit. */
const restMs = 25
/** In place of an id: more than are worth naming. */
const manyChanged = ''

/** What each frame tells the pages that are open, for the description of the stream. */
export const inboxFrames = {
  'team.conversation.changed': '`{ conversation }` as in the list, whatever changed of it',
  'team.conversation.gone': '`{ conversationId }` has become part of another one',
  'team.conversations.changed': '`{}`: many changed at once, load lists and counts anew',
  'team.presence': '`{ conversationId, people: [{ userId, name, state }] }`: who is there now',
  'team.media.changed': '`{ conversationId, messageId, mediaId, state }`: a file has come, or will not',
  'team.mentions': '`{ unread }`: how many notes that mention you are unread',
}
type InboxFrame = keyof typeof inboxFrames

/**
 * Tells the browsers of this node what commits of any node changed of conversations, each time as they are then: what
 * changes while one look is under way is told by the next. Returns how to stop.
 */
export function publishConversationUpdates(deps: LiveUpdateDeps): () => void {
  const { db, live, log } = deps
  const publishing = coalesce<string>({
    restMs,
    work: async (workspaceId, ids) => {
      if (ids.includes(manyChanged) || ids.length > maxPublished) publishManyChanged(live, workspaceId)
      else await publishChanged(deps, workspaceId, ids)
    },
    onError: (error, workspaceId) => {
      log.warn('failed to publish conversation updates to live streams', { workspaceId }, error)
      publishManyChanged(live, workspaceId)
    },
  })
  const stopConversations = db.subscribe(conversationsTopic, (message) => {
    const [workspaceId = '', id = manyChanged] = message.split(' ')
    if (live.hasStreams(workspaceId)) publishing.add(workspaceId, id)
  })
  const stopMentions = db.subscribe(mentionsTopic, (message) => {
    const [workspaceId = '', userId = ''] = message.split(' ')
    if (!live.hasStreams(workspaceId)) return
    countUnreadMentions(db.sql, workspaceId, userId)
      .then((unread) => publishFrame(live, workspaceId, 'team.mentions', { unread }, userId))
      .catch((error) => log.warn('failed to publish mentions to live streams', { workspaceId }, error))
  })
  const stopMedia = db.subscribe(mediaTopic, (message) => {
    const { workspaceId, ...media } = JSON.parse(message) as MediaUpdate
    if (live.hasStreams(workspaceId)) publishFrame(live, workspaceId, 'team.media.changed', media)
  })
  return () => {
    stopConversations()
    stopMentions()
    stopMedia()
    void publishing.close()
  }
}

async function publishChanged(deps: LiveUpdateDeps, workspaceId: string, ids: readonly string[]): Promise<void> {
  const { db, keyStore, clock, live } = deps
  const rows = await selectConversations(db.sql, workspaceId, ids)
  const conversations = await keyStore.withKeyring(workspaceId, async (keyring) =>
    rows.map((row) => decryptConversation(keyring, row)),
  )
  for (const shown of await readConversationViews(deps, workspaceId, conversations)) {
    publishFrame(live, workspaceId, 'team.conversation.changed', {
      conversation: presentTeamConversation(shown, clock.now()),
    })
  }
  const found = new Set(rows.map(({ id }) => id))
  for (const conversationId of ids) {
    if (!found.has(conversationId)) publishFrame(live, workspaceId, 'team.conversation.gone', { conversationId })
  }
}

/** Tells the browsers of this node who has a conversation open, as it is when the names are known. */
export async function publishPresence(
  deps: LiveUpdateDeps,
  presence: Presence,
  place: OpenConversation,
): Promise<void> {
  const { workspaceId, conversationId } = place
  if (!deps.live.hasStreams(workspaceId)) return
  const people = await presentPeople(deps, presence, place)
  publishFrame(deps.live, workspaceId, 'team.presence', { conversationId, people })
}

export async function presentPeople(
  deps: Pick<InboxDeps, 'db' | 'keyStore'>,
  presence: Presence,
  place: OpenConversation,
) {
  const users = presence.list(place).map(({ userId }) => ({ type: 'user' as const, id: userId }))
  const names = await readNames(deps, place.workspaceId, users)
  return presence.list(place).map(({ userId, state }) => ({ userId, name: names('user', userId), state }))
}

const publishManyChanged = (live: LiveUpdateDeps['live'], workspaceId: string): void =>
  publishFrame(live, workspaceId, 'team.conversations.changed', {})

function publishFrame(
  live: LiveUpdateDeps['live'],
  workspaceId: string,
  name: InboxFrame,
  data: object,
  userId?: string,
): void {
  live.publish(workspaceId, userId === undefined ? { name, data } : { name, data, userId })
}

export const presenceStates = ['viewing', 'typing'] as const
type PresenceState = (typeof presenceStates)[number]

/** How long it is believed that somebody is there after they said so. */
export const ttlMs = 20_000

interface PresentMember {
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
  set(conversation: OpenConversation, userId: string, state: PresenceState | null): void
  /** In the order in which they came. */
  list(conversation: OpenConversation): PresentMember[]
  /** Forgets those who have not been heard of. */
  sweep(): void
}

interface PresenceDeps {
  db: Db
  clock: Clock
  /** Somebody came, went, or does something else. */
  changed(conversation: OpenConversation): void
  onError(error: unknown): void
}

interface PresenceMessage extends OpenConversation {
  from: string
  userId: string
  state: PresenceState | null
}

const channel = 'inbox_presence'

export async function createPresence({ db, clock, changed, onError }: PresenceDeps): Promise<Presence> {
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
    else room.people.set(userId, { state, until: clock.now().getTime() + ttlMs })
    if (room.people.size === 0) rooms.delete(key)
    else rooms.set(key, room)
    if (before !== state) changed(conversation)
  }
  const stateNow = (entry: { state: PresenceState; until: number } | undefined) =>
    entry !== undefined && entry.until > clock.now().getTime() ? entry.state : null

  await db.listen(channel, (payload) => {
    const { from, workspaceId, conversationId, userId, state } = JSON.parse(payload) as PresenceMessage
    if (from !== self) apply({ workspaceId, conversationId }, userId, state)
  })

  return {
    set: (conversation, userId, state) => {
      apply(conversation, userId, state)
      const message: PresenceMessage = { from: self, ...conversation, userId, state }
      db.sql`select pg_notify(${channel}, ${JSON.stringify(message)})`.catch(onError)
    },
    list: ({ workspaceId, conversationId }) => {
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
