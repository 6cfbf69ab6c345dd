import type { Fragment, Sql } from '../base/db.ts'
import { conflict, forbidden, invalid, unprocessable } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import { isOfficial } from '../channels/connection/connection.ts'
import { findConnection } from '../channels/connection/queries.ts'
import { findTemplate } from '../channels/templates/templates.ts'
import { type ChangeTx, inWorkspace } from '../inbox/conversation/conversation.ts'
import { recordAudit } from '../team/audit.ts'
import { publishBroadcast } from '../team/live-updates.ts'
import { type Member, roleCovers } from '../team/member.ts'
import { lockWorkspace } from '../workspaces/workspace.ts'
import {
  type Broadcast,
  type BroadcastContent,
  type BroadcastDeps,
  type BroadcastOptions,
  encryptContent,
  findBroadcast,
  lockBroadcast,
  requireState,
  storeBroadcast,
} from './broadcast.ts'
import { findPauseReason, limitWindowMs, localMoment, zoneOf } from './pacing.ts'
import { parseVariable, type Variant, variantProblem } from './variables.ts'

export const maxBroadcasts = 500
/** As far ahead as a scheduled message. */
const maxAheadMs = 30 * 86_400_000

export interface BroadcastDraft extends BroadcastContent {
  name: string
  connectionId: string
  options: BroadcastOptions
}

/** Who prepares a broadcast: a person, a team token or an agent. */
export interface Author {
  workspaceId: string
  actor: Broadcast['actor']
}

/** Creates a draft. Throws 400 for a connection without templates, 409 if there are 500, or 20 of an agent. */
export function createBroadcast(deps: BroadcastDeps, by: Author, draft: BroadcastDraft): Promise<Broadcast> {
  const { workspaceId, actor } = by
  return inWorkspace(deps.sends, workspaceId, async (work) => {
    const { tx, keyring, now } = work
    await requireOfficial(work, draft.connectionId)
    await lockWorkspace(tx, workspaceId)
    const [row] = await tx<{ count: number }[]>`
      select count(*)::integer as count
      from broadcasts
      where workspace_id = ${workspaceId}`
    if ((row?.count ?? 0) >= maxBroadcasts) {
      throw conflict(`A workspace has at most ${maxBroadcasts} broadcasts. Delete old ones first.`)
    }
    if (actor.type === 'agent') await checkDrafts(work, actor.id)
    const id = newId(now)
    await tx`
      insert into broadcasts (
        workspace_id, id, name, state, connection_id, content, options, actor_type, actor_id, created_at, updated_at
      )
      values (
        ${workspaceId}, ${id}, ${draft.name}, 'draft', ${draft.connectionId}, ${encryptContent(keyring, id, draft)},
        ${JSON.stringify(draft.options)}::text::jsonb, ${actor.type}, ${actor.id}, ${now}, ${now}
      )`
    publishBroadcast(tx, workspaceId, id)
    await audit(work, by, 'broadcast.created', id)
    return findBroadcast(tx, keyring, workspaceId, id)
  })
}

/** Drafts of an agent that wait for people: one that repeats itself must not use up those of the workspace. */
const maxAgentDrafts = 20

async function checkDrafts({ tx, workspaceId }: ChangeTx, keyId: string): Promise<void> {
  const rows = await tx`
    select id
    from broadcasts
    where workspace_id = ${workspaceId}
      and state = 'draft'
      and actor_type = 'agent'
      and actor_id = ${keyId}
    limit ${maxAgentDrafts}`
  if (rows.length < maxAgentDrafts) return
  throw conflict(`${maxAgentDrafts} broadcasts of this key wait for the team. Ask them to start or delete some first.`)
}

/** Creates the draft of an agent: one template, and names of fields as `firstName|there`. */
export const createAgentBroadcast = (
  deps: BroadcastDeps,
  by: Author,
  { template, variables, ...draft }: AgentDraft,
): Promise<Broadcast> =>
  createBroadcast(deps, by, {
    ...{ ...draft, viewName: null, options: { quietDays: 1, optInOnly: false, perMinute: null } },
    variants: [{ template, weight: 1, body: variables.map(parseVariable), header: null, buttons: [] }],
  })

interface AgentDraft extends Pick<BroadcastDraft, 'name' | 'connectionId' | 'filter'> {
  template: Variant['template']
  variables: readonly string[]
}

/** Replaces what a draft has. A counted audience must be counted again. Throws 409 once it has started. */
export function changeBroadcast(
  deps: BroadcastDeps,
  by: Author,
  id: string,
  draft: BroadcastDraft,
): Promise<Broadcast> {
  return change(deps, by, id, async (work, broadcast) => {
    requireState(broadcast, 'draft', 'collecting', 'ready', 'awaiting_approval')
    await requireOfficial(work, draft.connectionId)
    await deleteRecipients(work, id)
    await audit(work, by, 'broadcast.changed', id)
    return storeBroadcast(work, broadcast, { ...draft, ...uncounted })
  })
}

/** Whether the next broadcasts must leave room for what this one has sent: see `readAllowance`. */
async function countsAgainstLimit(
  { tx, keyring, workspaceId, now }: ChangeTx,
  { id, connectionId }: Broadcast,
): Promise<boolean> {
  const limit = (await findConnection(tx, keyring, workspaceId, connectionId))?.numberStatus?.messagingLimit ?? null
  if (limit === null || limit === 'unlimited') return false
  const rows = await tx`
    select id
    from broadcast_recipients
    where workspace_id = ${workspaceId}
      and broadcast_id = ${id}
      and claimed_at > ${new Date(now.getTime() - limitWindowMs)}
    limit 1`
  return rows.length > 0
}

const uncounted = {
  ...{ state: 'draft' as const, reason: null, cursor: null, counts: null, startedAt: null, startedBy: null },
  nextAt: null,
}

export async function deleteBroadcast(deps: BroadcastDeps, by: Member, id: string): Promise<void> {
  await change(deps, by, id, async (work, broadcast) => {
    if (broadcast.startedBy !== null && !roleCovers(by.role, 'admin'))
      throw forbidden('Only admins delete broadcasts that were started, with their results.')
    requireState(broadcast, 'draft', 'collecting', 'ready', 'awaiting_approval', 'done', 'cancelled')
    const { tx, workspaceId } = work
    if (await countsAgainstLimit(work, broadcast)) {
      throw conflict('Its messages count against the messaging limit for 24 hours. Delete it after that.')
    }
    await tx`
      delete from broadcasts
      where workspace_id = ${workspaceId}
        and id = ${id}`
    publishBroadcast(tx, workspaceId, id)
    await audit(work, by, 'broadcast.deleted', id)
    return broadcast
  })
}

/** Starts to freeze the audience; a worker does it. Throws 422 for templates that cannot be sent with these values. */
export function countAudience(deps: BroadcastDeps, by: Author, id: string): Promise<Broadcast> {
  return change(deps, by, id, async (work, broadcast) => {
    requireState(broadcast, 'draft', 'ready', 'awaiting_approval')
    await requireTemplates(work, broadcast)
    await deleteRecipients(work, id)
    const { now } = work
    // `startedAt` is the time as of which the leads are frozen, until they are.
    return storeBroadcast(work, broadcast, { ...uncounted, state: 'collecting', startedAt: now, nextAt: now })
  })
}

/** When it starts: now, at a time, or at a local time of each recipient. */
export interface BroadcastStart {
  at: Date | null
  localAt: string | null
  /** Of the person who starts it, for recipients of an unknown country. */
  timeZone: string
}

/** Starts a broadcast, or asks for the approval of another admin if the workspace wants one. */
export function startBroadcast(deps: BroadcastDeps, by: Member, id: string, start: BroadcastStart): Promise<Broadcast> {
  const userId = requirePerson(by)
  return change(deps, by, id, async (work, broadcast) => {
    requireState(broadcast, 'ready')
    if ((broadcast.counts?.included ?? 0) === 0) throw conflict('Nobody is left in the audience. Change the draft.')
    const { at, localAt, timeZone } = start
    const times = { startAt: at, localAt, timeZone, startedBy: userId }
    checkTime(start, work.now)
    await audit(work, by, 'broadcast.started', id, broadcast.counts?.included)
    if (await needsApproval(work.tx, by.workspaceId)) {
      return storeBroadcast(work, broadcast, { ...times, state: 'awaiting_approval' })
    }
    return begin(work, { ...broadcast, ...times })
  })
}

/** Approves and starts it. Throws 403 for the person who has asked for it. */
export function approveBroadcast(deps: BroadcastDeps, by: Member, id: string): Promise<Broadcast> {
  const userId = requirePerson(by)
  return change(deps, by, id, async (work, broadcast) => {
    requireState(broadcast, 'awaiting_approval')
    if (broadcast.startedBy === userId) throw forbidden('Another admin must approve a broadcast that you have started')
    await audit(work, by, 'broadcast.approved', id, broadcast.counts?.included)
    return begin(work, { ...broadcast, approvedBy: userId })
  })
}

function requirePerson({ userId }: Member): string {
  if (userId === null) throw forbidden('Only people start broadcasts. Sign in as an admin.')
  return userId
}

export async function needsApproval(sql: Sql, workspaceId: string): Promise<boolean> {
  const [row] = await sql<{ isOn: boolean }[]>`
    select broadcast_approval as "isOn"
    from workspaces
    where id = ${workspaceId}`
  return row?.isOn === true
}

function checkTime({ at, localAt }: BroadcastStart, now: Date): void {
  const latest = now.getTime() + maxAheadMs
  if (at !== null && at.getTime() > latest) throw invalid('at', 'must be within 30 days')
  if (localAt === null) return
  const time = Date.parse(`${localAt}:00Z`)
  if (Number.isNaN(time) || time > latest) throw invalid('localAt', 'must be a date and time within 30 days')
}

/** Sets when each recipient is due, and lets the worker start it then. */
async function begin(work: ChangeTx, broadcast: Broadcast): Promise<Broadcast> {
  const { tx, keyring, workspaceId, now } = work
  const { id, startAt, localAt, timeZone } = broadcast
  const connection = await findConnection(tx, keyring, workspaceId, broadcast.connectionId)
  if (connection === undefined) throw conflict('The connection of this broadcast was removed. Choose another.')
  const from = startAt !== null && startAt > now ? startAt : now
  const first = localAt === null ? await setDue(work, id, from, tx``) : await setLocalDue(work, id, localAt, timeZone)
  return storeBroadcast(work, broadcast, {
    ...{ state: 'scheduled', reason: null, startAt: first, nextAt: first },
    quality: connection.numberStatus?.quality ?? null,
  })
}

async function setDue({ tx, workspaceId }: ChangeTx, id: string, at: Date, more: Fragment): Promise<Date> {
  await tx`
    update broadcast_recipients
    set due_at = ${at}
    where workspace_id = ${workspaceId}
      and broadcast_id = ${id}
      and status = 'pending'
      ${more}`
  return at
}

async function setLocalDue(work: ChangeTx, id: string, localAt: string, timeZone: string | null): Promise<Date> {
  const { tx, workspaceId, now } = work
  const countries = await tx<{ country: string | null }[]>`
    select distinct country
    from broadcast_recipients
    where workspace_id = ${workspaceId}
      and broadcast_id = ${id}
      and status = 'pending'`
  let first = Number.POSITIVE_INFINITY
  for (const { country } of countries) {
    const at = localMoment(localAt, zoneOf(country) ?? timeZone ?? 'UTC', now)
    await setDue(work, id, at, tx`and country is not distinct from ${country}::text`)
    first = Math.min(first, at.getTime())
  }
  return Number.isFinite(first) ? new Date(first) : now
}

/** Pauses it: when this returns, nothing more of it is sent until it is resumed. */
export function pauseBroadcast(deps: BroadcastDeps, by: Member, id: string): Promise<Broadcast> {
  return change(deps, by, id, async (work, broadcast) => {
    if (broadcast.state === 'paused') return broadcast
    requireState(broadcast, 'scheduled', 'running')
    await audit(work, by, 'broadcast.paused', id)
    const nextAt = broadcast.startedAt === null ? null : work.now
    return storeBroadcast(work, broadcast, { state: 'paused', reason: null, nextAt })
  })
}

/** Continues it with the number as it is now. Throws 409 while the number cannot send. */
export function resumeBroadcast(deps: BroadcastDeps, by: Member, id: string): Promise<Broadcast> {
  requirePerson(by)
  return change(deps, by, id, async (work, broadcast) => {
    requireState(broadcast, 'paused')
    const { tx, keyring, workspaceId, now } = work
    const connection = await findConnection(tx, keyring, workspaceId, broadcast.connectionId)
    const quality = connection?.numberStatus?.quality ?? null
    const reason = connection === undefined ? 'connection' : findPauseReason(connection, quality, now)
    if (reason !== null) {
      throw conflict(`The number cannot send broadcasts now (${reason}). Its connection page says what to do.`, {
        reason,
      })
    }
    // Those that the pause has stopped need not wait for the end of their claims.
    await tx`
      update broadcast_recipients
      set claimed_until = null
      where workspace_id = ${workspaceId}
        and broadcast_id = ${id}
        and status = 'pending'
        and claimed_until is not null`
    await audit(work, by, 'broadcast.resumed', id)
    const state = broadcast.startedAt === null ? ('scheduled' as const) : ('running' as const)
    const startAt = broadcast.startAt ?? now
    const nextAt = state === 'scheduled' && startAt > now ? startAt : now
    return storeBroadcast(work, broadcast, { state, quality, reason: null, nextAt })
  })
}

/** Ends it: who has got nothing yet gets nothing. A repeat changes nothing. */
export function cancelBroadcast(deps: BroadcastDeps, by: Member, id: string): Promise<Broadcast> {
  return change(deps, by, id, async (work, broadcast) => {
    if (broadcast.state === 'cancelled') return broadcast
    requireState(broadcast, 'awaiting_approval', 'scheduled', 'running', 'paused')
    const { tx, workspaceId, now } = work
    await tx`
      update broadcast_recipients
      set status = 'skipped',
        reason = 'cancelled',
        claimed_until = null
      where workspace_id = ${workspaceId}
        and broadcast_id = ${id}
        and status = 'pending'`
    await audit(work, by, 'broadcast.cancelled', id)
    const nextAt = broadcast.startedAt === null ? null : now
    return storeBroadcast(work, broadcast, { state: 'cancelled', reason: null, endedAt: now, nextAt })
  })
}

/** Sets whether a second person must approve broadcasts. */
export async function setApproval({ sends }: BroadcastDeps, by: Member, isOn: boolean): Promise<void> {
  const { workspaceId } = by
  if (!isOn && by.userId === null) throw forbidden('Only people switch approval off. Sign in as an admin.')
  await inWorkspace(sends, workspaceId, async (work) => {
    const { tx } = work
    const before = await needsApproval(tx, workspaceId)
    await tx`
      update workspaces
      set broadcast_approval = ${isOn}
      where id = ${workspaceId}`
    const target = `approval:${isOn ? 'on' : 'off'}`
    const entry = { scopeId: workspaceId, actor: by.actor, action: 'broadcast.settings_changed', target }
    if (before !== isOn) await recordAudit(tx, entry, work.now)
  })
}

function change(
  { sends }: BroadcastDeps,
  { workspaceId }: { workspaceId: string },
  id: string,
  work: (tx: ChangeTx, broadcast: Broadcast) => Promise<Broadcast>,
): Promise<Broadcast> {
  return inWorkspace(sends, workspaceId, async (tx) => work(tx, await lockBroadcast(tx, id)))
}

async function audit(
  { tx, workspaceId, now }: ChangeTx,
  by: Author | Member,
  action: string,
  id: string,
  count?: number,
) {
  const target = `broadcast:${id}${count === undefined ? '' : ` recipients:${count}`}`
  await recordAudit(tx, { scopeId: workspaceId, actor: by.actor, action, target }, now)
}

async function deleteRecipients({ tx, workspaceId }: ChangeTx, id: string): Promise<void> {
  await tx`
    delete from broadcast_recipients
    where workspace_id = ${workspaceId}
      and broadcast_id = ${id}`
}

async function requireOfficial({ tx, keyring, workspaceId }: ChangeTx, connectionId: string): Promise<void> {
  const connection = await findConnection(tx, keyring, workspaceId, connectionId)
  if (connection === undefined) throw invalid('connectionId', 'must be a connection of the workspace')
  if (!isOfficial(connection.channel)) throw invalid('connectionId', 'must be a connection that sends templates')
}

async function requireTemplates({ tx, workspaceId }: ChangeTx, { connectionId, variants }: Broadcast): Promise<void> {
  for (const [n, variant] of variants.entries()) {
    const { name, language } = variant.template
    const problem = variantProblem(variant, await findTemplate(tx, workspaceId, connectionId, name, language))
    if (problem !== null) throw unprocessable(`variants[${n}] ${problem}`, { code: 'TEMPLATE_NOT_APPROVED' })
  }
}
