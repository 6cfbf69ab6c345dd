import { coalesce } from '../../base/async/batch.ts'
import type { Log } from '../../base/log.ts'
import type { Live } from '../../events/live.ts'
import type { InboxDeps } from '../conversation/conversation.ts'
import { conversationsTopic, type MediaNews, mediaTopic, mentionsTopic } from '../conversation/conversation-news.ts'
import { selectConversations } from '../conversation/queries.ts'
import { openConversation } from '../conversation/sealed.ts'
import { countUnreadMentions } from '../notes/mentions.ts'
import { readNames } from '../read/names.ts'
import { showConversations } from '../read/show.ts'
import type { OpenConversation, Presence } from './presence.ts'
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
