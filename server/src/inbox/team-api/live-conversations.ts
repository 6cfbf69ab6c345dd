import { randomUUID } from 'node:crypto'
import { coalesce } from '../../base/async/batch.ts'
import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/db.ts'
import type { Log } from '../../base/log.ts'
import type { Live } from '../../events/live.ts'
import {
  conversationsTopic,
  type InboxDeps,
  type MediaNews,
  mediaTopic,
  mentionsTopic,
} from '../conversation/conversation.ts'
import { selectConversations } from '../conversation/queries.ts'
import { openConversation } from '../conversation/sealed.ts'
import { countUnreadMentions } from '../notes/mentions.ts'
import { readNames, showConversations } from '../read/names.ts'
import { presentTeamConversation } from './present-conversation.ts'

export interface TeamLiveDeps extends Pick<InboxDeps, 'db' | 'vault' | 'clock' | 'leadsOf'> {
  live: Pick<Live, 'isFollowed' | 'tell'>
  log: Log
}

/** From so many on, whoever shows a list loads it anew. */
const maxTold = 100
/** A busy workspace is told of so often, rather than after each commit. */
const restMs = 25
/** In place of an id: more than are worth naming. */
const many = ''

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
export function tellOfConversations(deps: TeamLiveDeps): () => void {
  const { db, live, log } = deps
  const telling = coalesce<string>({
    restMs,
    work: async (workspaceId, ids) => {
      if (ids.includes(many) || ids.length > maxTold) tellOfMany(live, workspaceId)
      else await tellOf(deps, workspaceId, ids)
    },
    onError: (error, workspaceId) => {
      log.warn('live conversations not told', { workspaceId }, error)
      tellOfMany(live, workspaceId)
    },
  })
  const stopConversations = db.onNews(conversationsTopic, (news) => {
    const [workspaceId = '', id = many] = news.split(' ')
    if (live.isFollowed(workspaceId)) telling.add(workspaceId, id)
  })
  const stopMentions = db.onNews(mentionsTopic, (news) => {
    const [workspaceId = '', userId = ''] = news.split(' ')
    if (!live.isFollowed(workspaceId)) return
    countUnreadMentions(db.sql, workspaceId, userId)
      .then((unread) => tell(live, workspaceId, 'team.mentions', { unread }, userId))
      .catch((error) => log.warn('live mentions not told', { workspaceId }, error))
  })
  const stopMedia = db.onNews(mediaTopic, (news) => {
    const { workspaceId, ...media } = JSON.parse(news) as MediaNews
    if (live.isFollowed(workspaceId)) tell(live, workspaceId, 'team.media.changed', media)
  })
  return () => {
    stopConversations()
    stopMentions()
    stopMedia()
    void telling.close()
  }
}

async function tellOf(deps: TeamLiveDeps, workspaceId: string, ids: readonly string[]): Promise<void> {
  const { db, vault, clock, live } = deps
  const rows = await selectConversations(db.sql, workspaceId, ids)
  const conversations = await vault.withKeyring(workspaceId, async (keyring) =>
    rows.map((row) => openConversation(keyring, row)),
  )
  for (const shown of await showConversations(deps, workspaceId, conversations)) {
    tell(live, workspaceId, 'team.conversation.changed', { conversation: presentTeamConversation(shown, clock.now()) })
  }
  const found = new Set(rows.map(({ id }) => id))
  for (const conversationId of ids) {
    if (!found.has(conversationId)) tell(live, workspaceId, 'team.conversation.gone', { conversationId })
  }
}

/** Tells the browsers of this node who has a conversation open, as it is when the names are known. */
export async function tellOfPresence(deps: TeamLiveDeps, presence: Presence, place: OpenConversation): Promise<void> {
  const { workspaceId, conversationId } = place
  if (!deps.live.isFollowed(workspaceId)) return
  const people = await presentPeople(deps, presence, place)
  tell(deps.live, workspaceId, 'team.presence', { conversationId, people })
}

export async function presentPeople(
  deps: Pick<InboxDeps, 'db' | 'vault'>,
  presence: Presence,
  place: OpenConversation,
) {
  const users = presence.who(place).map(({ userId }) => ({ type: 'user' as const, id: userId }))
  const names = await readNames(deps, place.workspaceId, users)
  return presence.who(place).map(({ userId, state }) => ({ userId, name: names('user', userId), state }))
}

const tellOfMany = (live: TeamLiveDeps['live'], workspaceId: string): void =>
  tell(live, workspaceId, 'team.conversations.changed', {})

function tell(live: TeamLiveDeps['live'], workspaceId: string, name: InboxFrame, data: object, userId?: string): void {
  live.tell(workspaceId, userId === undefined ? { name, data } : { name, data, userId })
}

export const presenceStates = ['viewing', 'typing'] as const
type PresenceState = (typeof presenceStates)[number]

/** How long it is believed that somebody is there after they said so. */
export const presentForMs = 20_000

interface Present {
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

interface PresenceDeps {
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
