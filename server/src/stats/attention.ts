import type { KeyRow } from '../auth/members/people.ts'
import type { Channel, ConnectionState } from '../channels/connection/connection.ts'
import { acknowledgedUntil, needsAcknowledgement } from '../channels/health/health.ts'
import type { UnansweredCount } from '../inbox/read/count-views.ts'
import type { QuotaUsage } from '../leads/lead/quota.ts'
import type { Endpoint } from '../webhooks/endpoint/endpoint.ts'
import { failuresBeforeProbes } from '../webhooks/endpoint/retry-policy.ts'

/** Sorted by severity, worst first. */
export const attentionCodes = [
  'agents_stopped',
  'connection_unavailable',
  'quota_reached',
  'customers_waiting',
  'key_paused',
  'webhook_disabled',
  'webhook_failing',
  'acknowledgement_missing',
  'key_expired',
  'acknowledgement_ending',
  'key_expiring',
  'quota_near',
  'connection_not_set_up',
] as const

export interface Attention {
  code: (typeof attentionCodes)[number]
  /** Id of the connection, webhook or key. */
  id: string | null
  name: string | null
  /** Since when the condition holds, or when it will occur. */
  at: Date | null
  count: number | null
  /** Reason code of the connection, webhook or key. */
  reason: string | null
}

export interface WorkspaceState {
  agentsStopped: boolean
  quota: QuotaUsage
  waiting: readonly UnansweredCount[]
  connections: readonly ConnectionInfo[]
  webhooks: readonly WebhookInfo[]
  keys: readonly KeyRow[]
}

export interface ConnectionInfo {
  id: string
  name: string
  channel: Channel
  state: ConnectionState
  stateReason: string | null
  stateChangedAt: Date
  acknowledgedAt: Date | null
  /** Time of the last event in either direction; null if there was none. */
  lastEventAt: Date | null
}

export interface WebhookInfo extends Pick<Endpoint, 'id' | 'description' | 'state' | 'stateReason' | 'stateChangedAt'> {
  failingSince: Date | null
  failuresInARow: number
}

const dayMs = 86_400_000
const warnAheadMs = 14 * dayMs
const showExpiredMs = 7 * dayMs
const showPauseMs = dayMs
const nearQuota = 0.8

/** Returns what needs attention now, worst first. */
export function listAttention(state: WorkspaceState, now: Date): Attention[] {
  const found = [
    ...workspaceAttention(state),
    ...state.connections.flatMap((one) => connectionAttention(one, now)),
    ...state.webhooks.flatMap(webhookAttention),
    ...state.keys.flatMap((one) => keyAttention(one, now)),
  ]
  const rank = ({ code }: Attention) => attentionCodes.indexOf(code)
  return found.sort((a, b) => rank(a) - rank(b) || (a.at?.getTime() ?? 0) - (b.at?.getTime() ?? 0))
}

const createAttention = (code: Attention['code'], more: Partial<Attention> = {}): Attention => ({
  code,
  id: null,
  name: null,
  at: null,
  count: null,
  reason: null,
  ...more,
})

function workspaceAttention({ agentsStopped, quota, waiting }: WorkspaceState): Attention[] {
  const count = waiting.reduce((sum, each) => sum + each.count, 0)
  const since = waiting.map((each) => each.since).sort((a, b) => a.getTime() - b.getTime())[0] ?? null
  return [
    ...(agentsStopped ? [createAttention('agents_stopped')] : []),
    ...(count > 0 ? [createAttention('customers_waiting', { count, at: since })] : []),
    ...quotaAttention(quota),
  ]
}

function quotaAttention({ used, limit }: QuotaUsage): Attention[] {
  if (limit === 0 || used < limit * nearQuota) return []
  return [createAttention(used < limit ? 'quota_near' : 'quota_reached', { count: used })]
}

function connectionAttention(one: ConnectionInfo, now: Date): Attention[] {
  const { id, name } = one
  // Members pause connections themselves, so they already know.
  if (one.state === 'paused') return []
  if (isNotSetUp(one)) return [createAttention('connection_not_set_up', { id, name, reason: one.stateReason })]
  if (one.state === 'unavailable') {
    return [createAttention('connection_unavailable', { id, name, at: one.stateChangedAt, reason: one.stateReason })]
  }
  const until = acknowledgedUntil(one)
  if (needsAcknowledgement(one, now)) return [createAttention('acknowledgement_missing', { id, name, at: until })]
  return isSoon(until, now) ? [createAttention('acknowledgement_ending', { id, name, at: until })] : []
}

/** Returns whether no phone was ever linked. A connection that is being linked again counts as unavailable instead. */
const isNotSetUp = ({ state, stateReason, lastEventAt }: ConnectionInfo): boolean =>
  state === 'unavailable' && lastEventAt === null && notLinkedYet.has(stateReason)

const notLinkedYet = new Set<string | null>(['never_paired', 'pairing', 'pairing_ended', 'setup'])

function webhookAttention(one: WebhookInfo): Attention[] {
  const { id, description: name, stateReason: reason, failingSince: at } = one
  if (one.state === 'disabled') {
    return reason === 'member'
      ? []
      : [createAttention('webhook_disabled', { id, name, at: one.stateChangedAt, reason })]
  }
  return one.failuresInARow >= failuresBeforeProbes
    ? [createAttention('webhook_failing', { id, name, at, count: one.failuresInARow })]
    : []
}

function keyAttention(key: KeyRow, now: Date): Attention[] {
  if (key.revokedAt !== null) return []
  return [...pauseAttention(key, now), ...expiryAttention(key, now)]
}

function pauseAttention({ id, name, pausedAt: at, pausedWhy: reason }: KeyRow, now: Date): Attention[] {
  if (at === null || now.getTime() - at.getTime() >= showPauseMs) return []
  return [createAttention('key_paused', { id, name, at, reason })]
}

function expiryAttention({ id, name, expiresAt: at }: KeyRow, now: Date): Attention[] {
  if (at === null) return []
  if (at > now) return isSoon(at, now) ? [createAttention('key_expiring', { id, name, at })] : []
  return now.getTime() - at.getTime() < showExpiredMs ? [createAttention('key_expired', { id, name, at })] : []
}

const isSoon = (at: Date | null, now: Date): boolean => at !== null && at.getTime() - now.getTime() <= warnAheadMs
