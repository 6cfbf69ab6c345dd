import { coalesce } from '../../base/async/coalesce.ts'
import type { Log } from '../../base/log.ts'
import type { Live } from '../../events/live.ts'
import type { InboxDeps } from '../conversation/conversation.ts'
import { selectConversations } from '../conversation/queries.ts'
import { openConversation } from '../conversation/sealed.ts'
import { conversationsTopic, mentionsTopic } from '../conversation/team-news.ts'
import { countUnreadMentions } from '../notes/mentions.ts'
import { readNames } from '../read/names.ts'
import { showConversations } from '../read/show.ts'
import type { OpenConversation, Presence } from './presence.ts'
import { presentTeamConversation } from './team-present.ts'

export interface TeamLiveDeps extends Pick<InboxDeps, 'db' | 'vault' | 'clock'> {
  live: Pick<Live, 'isFollowed' | 'tell'>
  log: Log
}

/** From so many on, whoever shows a list loads it anew. */
const maxTold = 100
/** A busy workspace is told of so often, rather than after each commit. */
const restMs = 25
/** In place of an id: more than are worth naming. */
const many = ''
const changedMany = { name: 'team.conversations.changed', data: {} }

/**
 * Tells the browsers of this node what commits of any node changed of conversations, each time as they are then: what
 * changes while one look is under way is told by the next. Returns how to stop.
 */
export function tellOfConversations(deps: TeamLiveDeps): () => void {
  const { db, live, log } = deps
  const telling = coalesce<string>({
    restMs,
    work: async (workspaceId, ids) => {
      if (ids.includes(many) || ids.length > maxTold) live.tell(workspaceId, changedMany)
      else await tellOf(deps, workspaceId, ids)
    },
    onError: (error, workspaceId) => {
      log.warn('live conversations not told', { workspaceId }, error)
      live.tell(workspaceId, changedMany)
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
      .then((unread) => live.tell(workspaceId, { name: 'team.mentions', data: { unread }, userId }))
      .catch((error) => log.warn('live mentions not told', { workspaceId }, error))
  })
  return () => {
    stopConversations()
    stopMentions()
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
    const data = { conversation: presentTeamConversation(shown, clock.now()) }
    live.tell(workspaceId, { name: 'team.conversation.changed', data })
  }
  const found = new Set(rows.map(({ id }) => id))
  for (const conversationId of ids) {
    if (!found.has(conversationId)) live.tell(workspaceId, { name: 'team.conversation.gone', data: { conversationId } })
  }
}

/** Tells the browsers of this node who has a conversation open, as it is when the names are known. */
export async function tellOfPresence(deps: TeamLiveDeps, presence: Presence, place: OpenConversation): Promise<void> {
  const { workspaceId, conversationId } = place
  if (!deps.live.isFollowed(workspaceId)) return
  const people = await presentPeople(deps, presence, place)
  deps.live.tell(workspaceId, { name: 'team.presence', data: { conversationId, people } })
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
