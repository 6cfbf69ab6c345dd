import { ApiError } from '../../base/errors.ts'
import { timeOfId } from '../../base/id.ts'
import { collectChangedIds } from '../../base/pubsub.ts'
import { createZoneFormat, localDateAt } from '../../base/time.ts'
import { openingAt } from '../../team/opening-hours.ts'
import {
  type AwayLanguage,
  type AwayMessage,
  type Service,
  type ServiceSettings,
  serviceOf,
  serviceReader,
} from '../../workspaces/service/service-settings.ts'
import { type Conversation, conversationsTopic } from '../conversation/conversation.ts'
import { windowIsOpen } from '../conversation/conversation-state.ts'
import { standbyOwner } from '../conversation/thread-control.ts'
import { countryOf } from '../costs/markets.ts'
import { listTeamConversations } from '../read/list.ts'
import { noFilter } from '../read/list-filter.ts'
import { findUsedKeys } from '../send/reserve-queries.ts'
import { sendMessage } from '../send/send.ts'
import { type SendDeps, systemSender } from '../send/send-deps.ts'

/** After an outage, a customer who wrote longer ago gets no away message. */
const maxDelayMs = 30 * 60_000
/** Interval of a check of all workspaces: messages about changes are rarely lost. */
const allEveryMs = 60_000
const pageSize = 100
const maxPages = 50
/** Sends at once; the rate limits of the platform apply to each. */
const sendsAtOnce = 8
const maxRefused = 10_000

interface PlannedAway {
  conversationId: string
  /** Identifies the conversation and the day: each gets one. */
  key: string
  text: string
}

/** Sends away messages for workspaces with recent changes. */
export interface AwayMessages {
  isDue(): Promise<boolean>
  /** Returns the number of messages sent. */
  work(): Promise<number>
}

/**
 * Creates the job that answers customers who write outside of business hours. Receiving a message does nothing for it:
 * what has changed is read again, for workspaces that have an away message. A message is sent once, whichever nodes
 * try, because its idempotency key names the conversation and the day.
 */
export function createAwayMessages(deps: SendDeps): AwayMessages {
  const changedIds = collectChangedIds(deps, { topics: [conversationsTopic], allEveryMs })
  const readService = serviceReader(deps.db)
  const pending = new Set<string>()
  // What was refused is not tried again: by a budget, or because the connection cannot send.
  const refused = new Set<string>()
  return {
    isDue: async () => {
      const changed = changedIds.take()
      const ids = changed === null ? await listWithAway(deps) : changed.map((id) => id.slice(0, id.indexOf(' ')))
      for (const id of new Set(ids)) {
        if (isAwayNow(await readService(id), deps.clock.now())) pending.add(id)
      }
      return pending.size > 0
    },
    work: async () => {
      let sent = 0
      for (const workspaceId of [...pending]) {
        pending.delete(workspaceId)
        sent += await sendAwayMessages(deps, workspaceId, await readService(workspaceId), refused)
      }
      if (refused.size > maxRefused) refused.clear()
      return sent
    },
  }
}

/** Returns whether the workspace or a team is away now and has a message for it. */
const isAwayNow = ({ hasAway, teams, ...own }: ServiceSettings, now: Date): boolean =>
  hasAway &&
  [own, ...teams.values()].some(({ away, hours }) => away !== null && hours !== null && !openingAt(hours, now).isOpen)

async function listWithAway({ db: { sql } }: SendDeps): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from workspaces where away_message is not null
    union
    select workspace_id from team_service_settings where away_message is not null`
  return rows.map(({ id }) => id)
}

async function sendAwayMessages(deps: SendDeps, workspaceId: string, settings: ServiceSettings, refused: Set<string>) {
  const planned = await findUnsent(deps, workspaceId, await plan(deps, workspaceId, settings))
  const due = planned.filter(({ key }) => !refused.has(key))
  let sent = 0
  for (let from = 0; from < due.length; from += sendsAtOnce) {
    const results = await Promise.all(due.slice(from, from + sendsAtOnce).map((one) => send(deps, workspaceId, one)))
    for (const [n, isSent] of results.entries()) {
      if (isSent) sent++
      else refused.add(due[from + n]?.key ?? '')
    }
  }
  return sent
}

/** Reads what customers wrote in the last half hour, a page at a time. */
async function plan({ db, keyStore, clock }: SendDeps, workspaceId: string, settings: ServiceSettings) {
  const now = clock.now()
  const keyring = await keyStore.keyring(workspaceId)
  const updatedAfter = new Date(now.getTime() - maxDelayMs)
  const filter = { ...noFilter, statuses: ['open' as const], unansweredOnly: true, updatedAfter }
  const planned: PlannedAway[] = []
  let cursor: string | null = null
  for (let page = 0; page < maxPages; page++) {
    const request = { filter, order: 'updated' as const, limit: pageSize, cursor }
    const found = await listTeamConversations({ sql: db.sql, keyring, workspaceId, connectionIds: [] }, request)
    planned.push(...found.conversations.flatMap((one) => planAway(one, settings, now) ?? []))
    cursor = found.cursor
    if (cursor === null) break
  }
  return planned
}

/** Returns the away message for a conversation now; null if it gets none. */
export function planAway(conversation: Conversation, settings: ServiceSettings, now: Date): PlannedAway | null {
  const service = serviceOf(settings, conversation.teamId)
  const { hours, away } = service
  const { newest } = conversation.inbound
  if (hours === null || away === null || newest === null) return null
  const wroteAt = timeOfId(newest)
  if (now.getTime() - wroteAt.getTime() > maxDelayMs || !isWanted(conversation, service, now)) return null
  if (openingAt(hours, now).isOpen || openingAt(hours, wroteAt).isOpen) return null
  const day = localDateAt(createZoneFormat(hours.timeZone), wroteAt.getTime())
  const text = awayTextFor(away, countryOf(conversation.contact), settings.country)
  return { conversationId: conversation.id, key: `away:${conversation.id}:${day}`, text }
}

/** Returns whether the customer still waits for people; also checked under the lock of the conversation. */
const isWanted = (conversation: Conversation, { away }: Pick<Service, 'away'>, now: Date): boolean =>
  conversation.unansweredSince !== null &&
  (conversation.owner.type === 'human' || away?.withAgents === true) &&
  windowIsOpen(conversation.windowExpiresAt, now) &&
  standbyOwner(conversation, now) === null

const countriesBy: Readonly<Record<Exclude<AwayLanguage, 'en'>, string>> = {
  es: 'AR BO CL CO CR CU DO EC ES GQ GT HN MX NI PA PE PR PY SV UY VE',
  pt: 'AO BR CV GW MO MZ PT ST TL',
}

const languageOf = (country: string): AwayLanguage =>
  (['es', 'pt'] as const).find((language) => countriesBy[language].split(' ').includes(country)) ?? 'en'

/** Returns the text in the language of the customer's country, else of the workspace's, else the first there is. */
export function awayTextFor({ texts }: AwayMessage, country: string | null, ownCountry: string | null): string {
  const wanted = [country, ownCountry].flatMap((one) => (one === null ? [] : texts[languageOf(one)]))
  return wanted.find((text) => text !== undefined) ?? texts.en ?? texts.es ?? texts.pt ?? ''
}

async function findUnsent({ db }: SendDeps, workspaceId: string, planned: readonly PlannedAway[]) {
  if (planned.length === 0) return []
  const { id: senderId } = systemSender(workspaceId).actor
  const keys = planned.map(({ key }) => ({ senderId, key }))
  const used = new Set(await db.tx((tx) => findUsedKeys(tx, workspaceId, keys)))
  return planned.filter((_one, n) => !used.has(n))
}

/** Returns false if it was refused. Anything else ends the run, and the next one tries again. */
async function send(deps: SendDeps, workspaceId: string, { conversationId, key, text }: PlannedAway): Promise<boolean> {
  const settings = await serviceReader(deps.db)(workspaceId)
  try {
    await sendMessage(deps, systemSender(workspaceId), {
      conversationId,
      idempotencyKey: key,
      body: { kind: 'text', text, preview_url: false },
      onlyIf: (conversation) => isWanted(conversation, serviceOf(settings, conversation.teamId), deps.clock.now()),
    })
    return true
  } catch (error) {
    if (error instanceof ApiError) return false
    throw error
  }
}
