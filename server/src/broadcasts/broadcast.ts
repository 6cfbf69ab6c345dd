import { isDeepStrictEqual } from 'node:util'
import type { Fragment, Sql } from '../base/db.ts'
import type { Keyring } from '../base/encryption/keyring.ts'
import { type ApiError, conflict, notFound } from '../base/errors.ts'
import type { Quality } from '../channels/health/number-status.ts'
import type { ChangeTx } from '../inbox/conversation/conversation.ts'
import type { SendDeps, Sender } from '../inbox/send/send-deps.ts'
import type { ListDeps } from '../leads/search/list.ts'
import type { TeamListQuery } from '../leads/search/list-request.ts'
import { recordNotifications } from '../notifications/record-notifications.ts'
import { recordAudit } from '../team/audit.ts'
import { publishBroadcast } from '../team/live-updates.ts'
import { systemActor } from '../workspaces/actor.ts'
import type { PauseReason } from './pacing.ts'
import type { Variant } from './variables.ts'

export const broadcastStates = [
  'draft',
  'collecting',
  'ready',
  'awaiting_approval',
  'scheduled',
  'running',
  'paused',
  'done',
  'cancelled',
] as const
export type BroadcastState = (typeof broadcastStates)[number]

export interface BroadcastDeps {
  /** Dependencies of sends. */
  sends: SendDeps
  leads: ListDeps
}

/** Filter of the list of leads, as the team API takes it. */
export type AudienceFilter = Omit<TeamListQuery, 'cursor' | 'limit' | 'page' | 'sortBy' | 'sortOrder' | 'sortLanguage'>

export interface BroadcastContent {
  filter: AudienceFilter
  /** Name of the saved view that the filter comes from; null without one. */
  viewName: string | null
  variants: Variant[]
}

export interface BroadcastOptions {
  /** Leaves out who got a template in the last days; 0: nobody. */
  quietDays: number
  /** Only customers who have opted in. */
  optInOnly: boolean
  /** At most as many messages a minute; null: as many as the number can. */
  perMinute: number | null
}

/** What the freezing of the audience has found so far. */
export interface AudienceCounts {
  leads: number
  included: number
  /** Number of those left out by reason. */
  excluded: Record<string, number>
  /** Exact decimal number of what the priced ones may cost; null without any price. */
  amount: string | null
  currency: string | null
  /** Included ones without a price on the rate card. */
  unpriced: number
}

export interface VariantResults {
  pending: number
  accepted: number
  delivered: number
  read: number
  failed: number
  skipped: number
  answered: number
  optedOut: number
  charged: number
  /** Exact decimal number; null if nothing charged has a price. */
  cost: string | null
}

export interface Results {
  variants: VariantResults[]
  /** Why recipients got nothing. */
  reasons: { status: string; reason: string; count: number }[]
  currency: string | null
  /** Charged messages without a price on the rate card. */
  unpriced: number
}

export interface Broadcast extends BroadcastContent {
  id: string
  workspaceId: string
  name: string
  state: BroadcastState
  reason: string | null
  connectionId: string
  options: BroadcastOptions
  cursor: string | null
  counts: AudienceCounts | null
  results: Results | null
  resultsAt: Date | null
  quality: Quality | null
  startAt: Date | null
  localAt: string | null
  timeZone: string | null
  actor: { type: 'user' | 'token' | 'agent'; id: string }
  startedBy: string | null
  approvedBy: string | null
  createdAt: Date
  updatedAt: Date
  startedAt: Date | null
  endedAt: Date | null
}

type BroadcastRow = Omit<Broadcast, keyof BroadcastContent | 'actor'> & {
  content: Buffer
  actorType: Broadcast['actor']['type']
  actorId: string
}

const columns = (sql: Sql): Fragment => sql`
  b.workspace_id as "workspaceId", b.id, b.name, b.state, b.reason, b.connection_id as "connectionId", b.content,
  b.options, b.cursor, b.counts, b.results, b.results_at as "resultsAt", b.quality, b.start_at as "startAt",
  b.local_at as "localAt", b.time_zone as "timeZone", b.actor_type as "actorType", b.actor_id as "actorId",
  b.started_by as "startedBy", b.approved_by as "approvedBy", b.created_at as "createdAt", b.updated_at as "updatedAt",
  b.started_at as "startedAt", b.ended_at as "endedAt"`

const contentPlace = (id: string) => ({ table: 'broadcasts', row: id, column: 'content' })

export const encryptContent = (keyring: Keyring, id: string, { filter, viewName, variants }: BroadcastContent) =>
  keyring.encrypt(contentPlace(id), JSON.stringify({ filter, viewName, variants }))

function decrypt(keyring: Keyring, { content, actorType: type, actorId, ...row }: BroadcastRow): Broadcast {
  const opened = JSON.parse(keyring.decryptText(contentPlace(row.id), content)) as BroadcastContent
  return { ...row, ...opened, actor: { type, id: actorId } }
}

/** Returns broadcasts of a workspace; `rest` is SQL after the condition. */
export async function selectBroadcasts(
  sql: Sql,
  keyring: Keyring,
  workspaceId: string,
  rest: Fragment,
): Promise<Broadcast[]> {
  const rows = await sql<BroadcastRow[]>`
    select ${columns(sql)}
    from broadcasts b
    where b.workspace_id = ${workspaceId}
      ${rest}`
  return rows.map((row) => decrypt(keyring, row))
}

/** Throws 404. */
export async function findBroadcast(sql: Sql, keyring: Keyring, workspaceId: string, id: string): Promise<Broadcast> {
  const [one] = await selectBroadcasts(sql, keyring, workspaceId, sql`and b.id = ${id}`)
  return one ?? throwNotFound()
}

/** Returns a broadcast, locked until the transaction ends: nothing of it is sent meanwhile. Throws 404. */
export async function lockBroadcast({ tx, keyring, workspaceId }: ChangeTx, id: string): Promise<Broadcast> {
  const [one] = await selectBroadcasts(tx, keyring, workspaceId, tx`and b.id = ${id} for update`)
  return one ?? throwNotFound()
}

function throwNotFound(): never {
  throw notFound('Broadcast not found')
}

const wrongStates: Record<BroadcastState, string> = {
  draft: 'its audience is not counted yet. Count it first.',
  collecting: 'its audience is being counted. Wait, or change the draft.',
  ready: 'it has not started.',
  awaiting_approval: 'it waits for the approval of another admin.',
  scheduled: 'it is scheduled. Cancel it first.',
  running: 'it is being sent. Pause or cancel it first.',
  paused: 'it is paused. Resume or cancel it.',
  done: 'it was sent. Copy it to send it again.',
  cancelled: 'it was cancelled. Copy it to send it.',
}

/** Throws 409 if it is in another state. */
export function requireState({ state }: Broadcast, ...allowed: BroadcastState[]): void {
  if (!allowed.includes(state)) throw wrongState(state)
}

export const wrongState = (state: BroadcastState): ApiError =>
  conflict(`This broadcast cannot be changed so: ${wrongStates[state]}`, { state })

/** Values of a change; `undefined` keeps one. */
interface BroadcastChanges
  extends Partial<
    Pick<
      Broadcast,
      | 'name'
      | 'state'
      | 'reason'
      | 'connectionId'
      | 'options'
      | 'cursor'
      | 'counts'
      | 'results'
      | 'resultsAt'
      | 'quality'
      | 'startAt'
      | 'localAt'
      | 'timeZone'
      | 'startedBy'
      | 'approvedBy'
      | 'startedAt'
      | 'endedAt'
    >
  > {
  nextAt?: Date | null
}

/** Stores changes of a locked broadcast and updates open pages. */
export async function storeBroadcast(
  { tx, keyring, workspaceId, now }: ChangeTx,
  before: Broadcast,
  { nextAt, ...changes }: BroadcastChanges & Partial<BroadcastContent>,
): Promise<Broadcast> {
  const after: Broadcast = { ...before, ...changes, updatedAt: now }
  const isRewritten = (['filter', 'viewName', 'variants'] as const).some(
    (name) => !isDeepStrictEqual(before[name], after[name]),
  )
  await tx`
    update broadcasts
    set name = ${after.name},
      state = ${after.state},
      reason = ${after.reason},
      connection_id = ${after.connectionId},
      content = ${isRewritten ? encryptContent(keyring, before.id, after) : tx`content`},
      options = ${JSON.stringify(after.options)}::text::jsonb,
      cursor = ${after.cursor},
      counts = ${after.counts === null ? null : JSON.stringify(after.counts)}::text::jsonb,
      results = ${after.results === null ? null : JSON.stringify(after.results)}::text::jsonb,
      results_at = ${after.resultsAt},
      quality = ${after.quality},
      start_at = ${after.startAt},
      local_at = ${after.localAt},
      time_zone = ${after.timeZone},
      started_by = ${after.startedBy},
      approved_by = ${after.approvedBy},
      started_at = ${after.startedAt},
      ended_at = ${after.endedAt},
      next_at = ${nextAt === undefined ? tx`next_at` : nextAt},
      updated_at = ${now}
    where workspace_id = ${workspaceId}
      and id = ${before.id}`
  publishBroadcast(tx, workspaceId, before.id)
  return after
}

/** Pauses it by itself and notifies who started it. A repeat changes nothing. */
export async function pauseItself(work: ChangeTx, broadcast: Broadcast, reason: PauseReason): Promise<void> {
  const { tx, workspaceId, now } = work
  if (broadcast.state !== 'running') return
  await storeBroadcast(work, broadcast, { state: 'paused', reason, nextAt: now })
  const target = `broadcast:${broadcast.id} ${reason}`
  const actor = { type: 'system', id: null } as const
  await recordAudit(tx, { scopeId: workspaceId, actor, action: 'broadcast.paused', target }, now)
  const { id, startedBy: userId, connectionId } = broadcast
  const common = { kind: 'broadcast', actor: systemActor, connectionId, reason } as const
  await recordNotifications(tx, workspaceId, [{ ...common, cause: `${id} ${now.toISOString()}`, userId }], now)
}

/** Sends in the name of the broadcast: takes nothing over, answers nothing, and may reach customers of agents. */
export const senderOf = ({ workspaceId, id }: Pick<Broadcast, 'workspaceId' | 'id'>): Sender => ({
  workspaceId,
  connectionIds: [],
  actor: { type: 'system', id },
  reachesAgents: true,
})

/** States in which a broadcast is at work, or will be by itself. */
export const activeStates = ['collecting', 'scheduled', 'running', 'paused'] as const

/** Counts the broadcasts of all workspaces by state, for metrics. */
export const readBroadcastCounts = (sql: Sql): Promise<{ state: string; count: number }[]> => sql`
  select state, count(*)::integer as count
  from broadcasts
  where state = any (${[...activeStates]}::text[])
  group by state`
