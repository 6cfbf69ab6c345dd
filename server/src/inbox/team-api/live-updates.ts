import { randomUUID } from 'node:crypto'
import { Type } from 'typebox'
import { coalesce } from '../../base/async/batch.ts'
import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/db.ts'
import { forbidden } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { nullable, oneOf, titled } from '../../base/route.ts'
import { text, unpaged } from '../../base/schema-types.ts'
import type { Live } from '../../events/live.ts'
import type { TeamApi } from '../../team/team-api.ts'
import { closed, idSchema } from '../../team/team-schema.ts'
import {
  conversationsTopic,
  type InboxDeps,
  type MediaUpdate,
  mediaTopic,
  mentionsTopic,
  type ReadDeps,
} from '../conversation/conversation.ts'
import { decryptConversation } from '../conversation/encrypted-conversation.ts'
import { requireConversation, selectConversations } from '../conversation/queries.ts'
import { countUnreadMentions } from '../notes/mentions.ts'
import { readConversationViews, readNames } from '../read/names.ts'
import type { Typing } from '../read/typing.ts'
import { TeamConversationParams } from './inbox-schema.ts'
import { conversationsPath, presentTeamConversation, scopeOf } from './present-conversation.ts'

export interface LiveUpdateDeps extends Pick<InboxDeps, 'db' | 'keyStore' | 'clock' | 'findLeads'> {
  live: Pick<Live, 'hasStreams' | 'publish'>
  log: Log
}

/** Above this number, pages reload their lists. */
const maxPublished = 100
/** Interval at which changes of a busy workspace are published, instead of after each commit. */
const minPauseMs = 25
/** Id that stands for many changed conversations. */
const manyChanged = ''

/** Contents of each frame, for the documentation of the stream. */
export const inboxFrames = {
  'team.conversation.changed': '`{ conversation }` with all fields of the list, after any change',
  'team.conversation.gone': '`{ conversationId }` was merged into another conversation or erased',
  'team.conversations.changed': '`{}`: many changed at once; reload lists and counts',
  'team.presence': '`{ conversationId, people: [{ userId, name, state }] }`: who has it open now',
  'team.media.changed': '`{ conversationId, messageId, mediaId, state }`: a file is available, or its download failed',
  'team.mentions': '`{ unread }`: number of unread notes that mention you',
}
type InboxFrame = keyof typeof inboxFrames

/**
 * Publishes changes of conversations, committed on any node, to the browsers connected to this node, with the state at
 * that time. Changes during a query are published by the next one. Returns a function that stops it.
 */
export function publishConversationUpdates(deps: LiveUpdateDeps): () => void {
  const { db, live, log } = deps
  const publishing = coalesce<string>({
    minPauseMs,
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

/** Publishes who has a conversation open to the browsers connected to this node, as of when the names are read. */
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

export async function presentPeople(deps: ReadDeps, presence: Presence, place: OpenConversation) {
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

const presenceStates = ['viewing', 'typing'] as const
type PresenceState = (typeof presenceStates)[number]

/** Time after which a member who has not reported again counts as absent. */
const ttlMs = 20_000

interface PresentMember {
  userId: string
  state: PresenceState
}

interface OpenConversation {
  workspaceId: string
  conversationId: string
}

/** Members who have a conversation open. In memory only, since it is valid for seconds. */
export interface Presence {
  /** Sets the state, null for none, and publishes it to other nodes. */
  set(conversation: OpenConversation, userId: string, state: PresenceState | null): void
  /** Returns the members in the order of arrival. */
  list(conversation: OpenConversation): PresentMember[]
  /** Removes members who have not reported again. */
  removeExpired(): void
}

interface PresenceDeps {
  db: Db
  clock: Clock
  /** Called when a member arrives, leaves or changes state. */
  changed(conversation: OpenConversation): void
  onError(error: unknown): void
}

interface PresenceMessage extends OpenConversation {
  from: string
  userId: string
  state: PresenceState | null
}

const channel = 'inbox_presence'

const keyOf = ({ workspaceId, conversationId }: OpenConversation): string => `${workspaceId} ${conversationId}`

export async function createPresence({ db, clock, changed, onError }: PresenceDeps): Promise<Presence> {
  const nodeId = randomUUID()
  const occupantsByConversation = new Map<
    string,
    { conversation: OpenConversation; people: Map<string, { state: PresenceState; until: number }> }
  >()

  const apply = (conversation: OpenConversation, userId: string, state: PresenceState | null) => {
    const key = keyOf(conversation)
    const occupants = occupantsByConversation.get(key) ?? { conversation, people: new Map() }
    const before = stateNow(occupants.people.get(userId))
    if (state === null) occupants.people.delete(userId)
    else occupants.people.set(userId, { state, until: clock.now().getTime() + ttlMs })
    if (occupants.people.size === 0) occupantsByConversation.delete(key)
    else occupantsByConversation.set(key, occupants)
    if (before !== state) changed(conversation)
  }
  const stateNow = (entry: { state: PresenceState; until: number } | undefined) =>
    entry !== undefined && entry.until > clock.now().getTime() ? entry.state : null

  await db.listen(channel, (payload) => {
    const { from, workspaceId, conversationId, userId, state } = JSON.parse(payload) as PresenceMessage
    if (from !== nodeId) apply({ workspaceId, conversationId }, userId, state)
  })

  // One notification per member and conversation at a time: on two connections, the older state could arrive last.
  const notifying = coalesce<PresenceMessage>({
    work: (_key, messages) => db.sql`select pg_notify(${channel}, ${JSON.stringify(messages.at(-1))})`,
    onError,
  })

  return {
    set: (conversation, userId, state) => {
      apply(conversation, userId, state)
      notifying.add(`${keyOf(conversation)} ${userId}`, { from: nodeId, ...conversation, userId, state })
    },
    list: (conversation) => {
      const { people } = occupantsByConversation.get(keyOf(conversation)) ?? { people: new Map() }
      return [...people].flatMap(([userId, entry]) => {
        const state = stateNow(entry)
        return state === null ? [] : [{ userId, state }]
      })
    },
    removeExpired: () => {
      for (const [key, { conversation, people }] of occupantsByConversation) {
        const before = people.size
        for (const [userId, entry] of people) if (stateNow(entry) === null) people.delete(userId)
        if (people.size === 0) occupantsByConversation.delete(key)
        if (people.size < before) changed(conversation)
      }
    },
  }
}

const path = `${conversationsPath}/:id/presence`

const People = Type.Object({
  people: Type.Array(
    titled('Presence', {
      userId: idSchema('Member id.'),
      name: nullable(text(100, 'Name of the member.', { example: 'Ana Lima' })),
      state: oneOf(presenceStates, { description: 'What the member is doing.', example: 'viewing' }),
    }),
    unpaged,
  ),
})

export function presenceRoutes(api: TeamApi, deps: InboxDeps & { presence: Presence; typing: Typing }): void {
  const { db, presence, typing } = deps
  const openConversationOf = async (workspaceId: string, id: string): Promise<OpenConversation> => {
    const row = await requireConversation(db.sql, { workspaceId, connectionIds: [] }, id)
    return { workspaceId, conversationId: row.id }
  }
  api.get(path, 'member', {
    operationId: 'getPresence',
    summary: 'List who has a conversation open',
    description: 'Current state, including the caller.',
    params: TeamConversationParams,
    answers: { 200: People },
    allErrors: [400, 401, 404],
    run: async ({ member, params }) => {
      const { workspaceId } = member
      const conversation = await openConversationOf(workspaceId, params.id)
      return { people: await presentPeople(deps, presence, conversation) }
    },
  })
  api.post(path, 'member', {
    operationId: 'reportPresence',
    summary: 'Report that I have a conversation open',
    description: `Valid for ${ttlMs / 1000} seconds: report again every 13, and \`gone\` on leaving. Others receive \`team.presence\` on the live stream. Only for members: tokens get 403.`,
    params: TeamConversationParams,
    body: Type.Object(
      {
        state: oneOf([...presenceStates, 'gone'] as const, { example: 'typing' }),
        toCustomer: Type.Optional(
          Type.Boolean({
            description:
              'With `typing`: a message, which the customer is shown for 25 seconds unless an agent owns the conversation; not a note.',
          }),
        ),
      },
      closed,
    ),
    answers: { 200: People },
    run: async ({ member, params, body }) => {
      const { workspaceId, userId } = member
      if (userId === null) throw forbidden('Tokens cannot report presence. Sign in as a member.')
      const conversation = await openConversationOf(workspaceId, params.id)
      const { state, toCustomer = false } = body
      const wasTyping = presence.list(conversation).some((one) => one.userId === userId && one.state === 'typing')
      presence.set(conversation, userId, state === 'gone' ? null : state)
      const isTyping = presence.list(conversation).some((one) => one.state === 'typing')
      // Before the response, so that the next report of the page cannot overtake it.
      if (state === 'typing' && toCustomer) await typing.show('people', scopeOf(member), conversation.conversationId)
      else if (wasTyping && !isTyping) await typing.stop(scopeOf(member), conversation.conversationId)
      return { people: await presentPeople(deps, presence, conversation) }
    },
  })
}
