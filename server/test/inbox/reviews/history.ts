import { newId } from '../../../src/base/id.ts'
import type { World } from '../../support/world.ts'

/** What happened in a conversation, in the order of its times. */
export type Step =
  | { what: 'owner'; from: string; to: string; by: 'agent' | 'user' | 'system'; reason: string | null }
  | { what: 'status'; from: string; to: string }
  | { what: 'draft' }
  | { what: 'labels' }
  | { what: 'message'; by: 'customer' | 'user' | 'echo' | 'history' | 'failed' | 'system' | { agent: string } }

export type History = (Step & { at: Date })[]

export const minute = 60_000
export const hour = 60 * minute

/** Two agents, and when histories begin. */
export const [k1, k2] = ['11111111-1111-7111-8111-111111111111', '22222222-2222-7222-8222-222222222222'] as const
export const ofAgent = `agent:${k1}`
export const start = new Date('2026-02-01T00:00:00.000Z')

/** Stores a conversation with this history; returns its id. With an id, adds the history to that conversation. */
export async function storeHistory(
  w: World & { connectionId: string },
  history: History,
  existingId: string | null = null,
): Promise<string> {
  const { db, workspaceId, connectionId } = w
  const first = history[0]?.at ?? w.clock.now()
  const conversationId = existingId ?? newId(first)
  const common = { workspace_id: workspaceId, conversation_id: conversationId }
  const activities = history.flatMap((step) => {
    if (step.what === 'message') return []
    const { what, at, ...detail } = step
    const [reason, by] = step.what === 'owner' ? [step.reason, step.by] : [null, 'user']
    const row = { id: newId(at), kind: what, detail: { kind: what, ...detail }, reason, actor_type: by, created_at: at }
    return [{ ...common, ...row }]
  })
  const messages = history.flatMap((step) => (step.what === 'message' ? [{ ...common, ...messageOf(step) }] : []))
  await db.tx(async (tx) => {
    await tx`
      insert into conversations (
        workspace_id, id, connection_id, channel, contact, index_version, owner_since, status, last_message_at,
        created_at, updated_at
      )
      values (
        ${workspaceId}, ${conversationId}, ${connectionId}, 'waba', ${Buffer.alloc(1)}, 1, ${first}, 'open', ${first},
        ${first}, ${first}
      )
      on conflict do nothing`
    await tx`
      insert into conversation_activities
      select *
      from jsonb_to_recordset(${tx.json(activities)}) as r (
        workspace_id uuid, id uuid, conversation_id uuid, kind text, detail jsonb, reason text, actor_type text,
        actor_id uuid, created_at timestamptz
      )`
    await tx`
      insert into messages (
        workspace_id, id, conversation_id, connection_id, direction, kind, origin, content, status, actor_type, actor_id,
        occurred_at, created_at
      )
      select r.workspace_id, r.id, r.conversation_id, ${connectionId}::uuid, r.direction, r.kind, r.origin, ''::bytea,
        r.status, r.actor_type, r.actor_id, r.occurred_at, r.occurred_at
      from jsonb_to_recordset(${tx.json(messages)}) as r (
        workspace_id uuid, id uuid, conversation_id uuid, direction text, kind text, origin text, status text,
        actor_type text, actor_id uuid, occurred_at timestamptz
      )`
  })
  return conversationId
}

function messageOf({ by, at }: { by: Extract<Step, { what: 'message' }>['by']; at: Date }) {
  const agent = typeof by === 'object' ? by.agent : null
  return {
    id: newId(at),
    direction: by === 'customer' || by === 'system' ? 'inbound' : 'outbound',
    kind: by === 'system' ? 'system' : 'text',
    origin: by === 'echo' || by === 'history' ? by : 'live',
    status: by === 'failed' ? 'failed' : 'sent',
    actor_type: agent !== null ? 'agent' : by === 'user' || by === 'failed' || by === 'history' ? 'user' : null,
    actor_id: agent,
    occurred_at: at,
  }
}

/** Repeatable random numbers. */
export function random(seed: number) {
  let state = seed
  const next = () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
  return { next, pick: <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)] as T }
}

/** Returns a history in which anything may happen at any time. */
export function randomHistory({ next, pick }: ReturnType<typeof random>): History {
  const history: History = []
  let [at, has, state] = [start.getTime() - 5 * 24 * hour + next() * 25 * 24 * hour, 'human', 'open']
  for (let n = 5 + Math.floor(next() * 30); n > 0; n--) {
    at += Math.floor(minute + next() ** 4 * 100 * hour)
    const step = randomStep(next, pick, has, state)
    if (step.what === 'owner') has = step.to
    if (step.what === 'status') state = step.to
    history.push({ ...step, at: new Date(at) })
  }
  return history
}

function randomStep(next: () => number, pick: <T>(list: readonly T[]) => T, has: string, state: string): Step {
  const kind = next()
  if (kind < 0.25) {
    const to = pick(['human', ofAgent, `agent:${k2}`].filter((one) => one !== has))
    const by = pick(['agent', 'user', 'system'] as const)
    const reason = pick([null, null, 'watchdog', 'sent', 'phone', 'key_ended', 'agents_stopped', 'merged'])
    return { what: 'owner', from: has, to, by, reason }
  }
  if (kind < 0.45) return { what: 'status', from: state, to: pick(['open', 'snoozed', 'resolved', 'closed']) }
  if (kind < 0.5) return { what: pick(['draft', 'labels'] as const) }
  const agent = { agent: k1 }
  const author = ['customer', 'user', 'echo', 'history', 'failed', 'system', agent, { agent: k2 }] as const
  return { what: 'message', by: pick([...author, agent, agent, 'customer']) }
}

export interface Recounted {
  key: string
  outcome: string
  endedAt: Date
  answeredAt: Date | null
}

export const isClosed = (one: string) => one === 'resolved' || one === 'closed'

/** The definitions again, from the first event to the last. */
export function recount(history: History, now: Date): Recounted[] {
  const cases: Recounted[] = []
  let [has, caseFrom] = ['human', 0]
  // Since the last closing.
  let [answers, hasPeople]: [{ key: string; at: Date }[], boolean] = [[], false]
  const end = (at: Date, outcome: string) => {
    const key = has.slice('agent:'.length)
    const own = answers.filter((one) => one.key === key && one.at.getTime() >= caseFrom)
    const answeredAt = own.at(-1)?.at ?? null
    if (answeredAt !== null || outcome === 'handed_over' || outcome === 'silent')
      cases.push({ key, outcome, endedAt: at, answeredAt })
  }
  for (const [n, step] of history.entries()) {
    const { at } = step
    if (step.what === 'draft') hasPeople = true
    if (step.what === 'message') {
      if (typeof step.by === 'object') answers.push({ key: step.by.agent, at })
      if (step.by === 'user' || step.by === 'echo') hasPeople = true
    }
    if (step.what === 'owner') {
      if (has !== 'human') end(at, outcomeOf(step))
      has = step.to
      caseFrom = at.getTime()
    }
    if (step.what === 'status' && !isClosed(step.from) && isClosed(step.to)) {
      const opened = history.slice(n).find((one) => one.what === 'status' && isClosed(one.from) && !isClosed(one.to))
      const isReopened = opened !== undefined && opened.at.getTime() - at.getTime() <= 72 * hour
      const isRecent = now.getTime() - at.getTime() < 72 * hour
      if (has !== 'human') end(at, hasPeople ? 'assisted' : isReopened ? 'reopened' : isRecent ? 'recent' : 'resolved')
      caseFrom = at.getTime()
      answers = []
      hasPeople = false
    }
  }
  return cases
}

function outcomeOf({ to, by, reason }: Extract<Step, { what: 'owner' }>): string {
  if (reason === 'watchdog') return 'silent'
  if (reason === 'agents_stopped' || reason === 'key_ended' || reason === 'merged' || to !== 'human') return 'other'
  if (by === 'agent') return 'handed_over'
  return by === 'user' || reason === 'phone' ? 'taken_over' : 'other'
}
