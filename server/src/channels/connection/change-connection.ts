import { isDeepStrictEqual } from 'node:util'
import type { Tx } from '../../base/db.ts'
import { conflict, forbidden, invalid, unprocessable } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import type { Outgoing } from '../../base/outgoing/guarded-fetch.ts'
import { recordAudit } from '../../team/audit.ts'
import type { TeamActor } from '../../team/member.ts'
import { isSandbox } from '../../workspaces/workspace.ts'
import { adapterOf, type NumberCheck } from '../adapter.ts'
import { clearReport } from '../check/check-store.ts'
import { startTemplateSync } from '../templates/template-schedule.ts'
import {
  connectionNotFound,
  isInSetup,
  isNumberTaken,
  numberTaken,
  type StoredConnection,
  setupReason,
  stillInSetup,
} from './connection.ts'
import {
  countInSetup,
  insertConnection,
  lockConnection,
  markConnectionRemoved,
  requireConnection,
  updateConnection,
} from './queries.ts'
import {
  applyCheck,
  isSameNumber,
  originOf,
  type RegistrationDeps,
  registerConnection,
  withReservation,
} from './registration.ts'
import type { ConnectionChanges, NewConnection } from './schema.ts'

export interface ConnectionDeps extends RegistrationDeps {
  /** Decides which platform addresses are allowed. */
  outgoing: Outgoing
  /** Address of the simulator, the only one that connections of a sandbox may have; absent: there is none. */
  simulatorUrl?: string | null
}

/** The caller; `userId` is null for a token or the service itself. */
export interface ChangeAuthor {
  workspaceId: string
  userId: string | null
  actor: TeamActor | { type: 'system'; id: null }
}

/**
 * Connects a number after checking it at the platform. If the check fails, the connection is created as `unavailable`
 * with the reason; with `mustAnswer`, throws 422 and stores nothing. Without a number, starts the setup. Throws 400 for
 * an invalid address and 409 for a number in use.
 */
export async function createConnection(
  deps: ConnectionDeps,
  by: ChangeAuthor,
  input: NewConnection,
): Promise<StoredConnection> {
  const now = deps.clock.now()
  const id = newId(now)
  const { channel, name } = input
  const known = { ...blankConnection(now), workspaceId: by.workspaceId, id, channel, name: name.trim() }
  // The settings belong to the channel: both come from the same input.
  const adapter = adapterOf(deps.adapters, input)
  const one = withAllowedAddress(deps, { ...known, ...adapter.createAccess(input, id) } as StoredConnection)
  if (await isSandbox(deps.db.sql, by.workspaceId)) requireSimulator(deps, one)
  if (adapter.setup?.listNumbers !== undefined && isWithoutNumber(one)) return startSetup(deps, by, one)
  const check = await adapter.checkNumber(one)
  if (check.problem !== null && 'mustAnswer' in input && input.mustAnswer) {
    throw unprocessable('The platform rejected this number or did not respond. Nothing was saved.', {
      code: 'CHECK_FAILED',
      reason: check.problem,
    })
  }
  const checked = applyCheck(deps.adapters, one, check, now)
  const keyring = await deps.keyStore.keyring(by.workspaceId)
  const insert = async (tx: Tx) => {
    await insertConnection(tx, keyring, checked, adapter.fetchTemplates !== undefined)
    await recordAudit(tx, auditEntry(by, 'connection.added', id), now)
  }
  await deps.db.tx(insert).catch(translateNumberTaken)
  return registerConnection(deps, checked, check)
}

/** Nothing can leave a sandbox: its messages have no other address than the simulator's. */
function requireSimulator({ simulatorUrl = null }: ConnectionDeps, { channel, settings }: StoredConnection): void {
  if (channel === 'waba' && simulatorUrl !== null && settings.baseUrl === simulatorUrl) return
  throw forbidden('A sandbox has only connections of the simulator')
}

/** Whether no number is chosen yet: the connection's own id takes its place, which no platform uses. */
const isWithoutNumber = ({ id, numberId }: StoredConnection): boolean => numberId === id

export const maxInSetup = 20

/** Creates a connection that is set up step by step. Nothing is asked of the platform and nothing reserved. */
async function startSetup(deps: ConnectionDeps, by: ChangeAuthor, blank: StoredConnection): Promise<StoredConnection> {
  const one: StoredConnection = { ...blank, state: 'unavailable', stateReason: setupReason }
  const keyring = await deps.keyStore.keyring(by.workspaceId)
  await deps.db.tx(async (tx) => {
    if ((await countInSetup(tx, by.workspaceId)) >= maxInSetup) {
      throw conflict(`A workspace has at most ${maxInSetup} connections in setup. Finish or remove one.`)
    }
    await insertConnection(tx, keyring, one, false)
    await recordAudit(tx, auditEntry(by, 'connection.added', one.id), one.createdAt)
  })
  return one
}

/**
 * Ends the setup of a connection whose steps all work: from now on it sends. Returns it unchanged if the platform no
 * longer confirms the number. Throws 409 if another connection has reserved the number.
 */
export async function finishSetup(
  deps: ConnectionDeps,
  by: ChangeAuthor,
  one: StoredConnection,
): Promise<StoredConnection> {
  const check = await adapterOf(deps.adapters, one).checkNumber(one)
  if (check.problem !== null) return one
  return update(deps, by, one.id, 'connection.connected', (current, now) =>
    isInSetup(current) && isSameNumber(current, one) ? applyCheck(deps.adapters, current, check, now) : current,
  )
}

// Fields that do not affect how the platform is reached; a change of any other field requires a new check.
const fieldsWithoutCheck = new Set(['name', 'accountId', 'appId', 'verifyToken', 'signingSecret', 'widget'])

/** Changes the fields in the input. Checks the number again if the way to reach the platform changes. */
export async function changeConnection(
  deps: ConnectionDeps,
  by: ChangeAuthor,
  id: string,
  input: ConnectionChanges,
): Promise<StoredConnection> {
  if (await isSandbox(deps.db.sql, by.workspaceId)) throw forbidden('The connection of a sandbox cannot be changed')
  const apply = (one: StoredConnection): StoredConnection => {
    const { name, ...changes } = input
    const adapter = adapterOf(deps.adapters, one)
    const unknownField = Object.keys(changes).find(
      (field) => !adapter.changeableFields.some((known) => known === field),
    )
    if (unknownField !== undefined) throw invalid(unknownField, `is not a field of channel ${one.channel}`)
    const changed = { ...one, name: name?.trim() ?? one.name, ...adapter.changeAccess(one, changes) }
    const allowed = withAllowedAddress(deps, changed as StoredConnection)
    if (isOtherServer(one, allowed)) requireSecrets(adapter.secretsSent, input)
    return isSameNumber(one, allowed) ? allowed : { ...allowed, ...unconfirmed }
  }
  if (Object.keys(input).every((field) => fieldsWithoutCheck.has(field))) {
    return update(deps, by, id, 'connection.changed', apply)
  }
  const check = await checkChanged(deps, by, id, apply)
  const action = (before: StoredConnection, after: StoredConnection) =>
    isOtherServer(before, after) ? 'connection.address-changed' : 'connection.changed'
  const changed = await update(deps, by, id, action, (one, now) =>
    // A paused connection stays paused, and one in setup stays in it until all its steps work.
    one.state === 'paused' || isInSetup(one)
      ? withReservation(apply(one), check)
      : applyCheck(deps.adapters, apply(one), check, now),
  )
  return registerConnection(deps, changed, check)
}

const isOtherServer = (before: StoredConnection, after: StoredConnection) =>
  originOf(before.settings.baseUrl) !== originOf(after.settings.baseUrl)

/** Requires the platform's secrets again: another server must not receive those entered for the previous one. */
function requireSecrets(fields: readonly (keyof ConnectionChanges)[], input: ConnectionChanges): void {
  const missing = fields.find((field) => input[field] === undefined)
  if (missing === undefined) return
  const explanation = 'the stored one belongs to the previous server'
  throw invalid(missing, `must be sent when the address changes to another server: ${explanation}`)
}

/** Stops sending over a connection. Incoming messages are still received. */
export function pauseConnection(deps: ConnectionDeps, by: ChangeAuthor, id: string): Promise<StoredConnection> {
  return update(deps, by, id, 'connection.paused', (one, now) => {
    if (isInSetup(one)) throw stillInSetup()
    return one.state === 'paused' ? one : { ...one, state: 'paused', stateReason: null, stateChangedAt: now }
  })
}

/** Resumes a connection if the platform confirms its number. */
export async function resumeConnection(deps: ConnectionDeps, by: ChangeAuthor, id: string): Promise<StoredConnection> {
  const current = await requireConnection(deps, by.workspaceId, id)
  if (isInSetup(current)) throw stillInSetup()
  const adapter = adapterOf(deps.adapters, current)
  if (adapter.resume !== undefined) {
    await adapter.resume(current)
    return update(deps, by, id, 'connection.resumed', (one) => one)
  }
  const check = await adapter.checkNumber(current)
  const resumed = await update(deps, by, id, 'connection.resumed', (one, now) =>
    applyCheck(deps.adapters, one, check, now),
  )
  return registerConnection(deps, resumed, check)
}

/** Disconnects a number and deletes its secrets. Its conversations remain readable. */
export async function removeConnection(deps: ConnectionDeps, by: ChangeAuthor, id: string): Promise<void> {
  const keyring = await deps.keyStore.keyring(by.workspaceId)
  await deps.db.tx(async (tx) => {
    const now = deps.clock.now()
    if (!(await markConnectionRemoved(tx, keyring, { workspaceId: by.workspaceId, id }, now)))
      throw connectionNotFound()
    await recordAudit(tx, auditEntry(by, 'connection.removed', id), now)
  })
}

/** Accepts the risk of an unofficial connection, for 90 days or until it is paired again. Only people can do this. */
export async function acknowledgeRisk(deps: ConnectionDeps, by: ChangeAuthor, id: string): Promise<StoredConnection> {
  const { userId } = by
  if (userId === null) throw forbidden('Only a person can accept the risk. Sign in as a member.')
  return update(deps, by, id, 'connection.acknowledged', (one, now) => {
    if (one.channel !== 'unofficial') throw conflict('Only an unofficial connection has a risk to confirm')
    return { ...one, acknowledgedAt: now, acknowledgedBy: userId }
  })
}

async function update(
  deps: ConnectionDeps,
  by: ChangeAuthor,
  id: string,
  action: string | ((before: StoredConnection, after: StoredConnection) => string),
  change: (one: StoredConnection, now: Date) => StoredConnection,
): Promise<StoredConnection> {
  const keyring = await deps.keyStore.keyring(by.workspaceId)
  const work = async (tx: Tx) => {
    const now = deps.clock.now()
    const current = await lockConnection(tx, keyring, by.workspaceId, id)
    if (current === undefined) throw connectionNotFound()
    const changed = { ...change(current, now), updatedAt: now }
    await updateConnection(tx, keyring, changed)
    if (!isDeepStrictEqual(accessOf(changed), accessOf(current))) await clearReport(tx, changed)
    if (isInSetup(current) && !isInSetup(changed)) await startTemplateSync(tx, changed, now)
    const name = typeof action === 'string' ? action : action(current, changed)
    await recordAudit(tx, auditEntry(by, name, id), now)
    return changed
  }
  return deps.db.tx(work).catch(translateNumberTaken)
}

const accessOf = ({ numberId, accountId, settings }: StoredConnection) => ({ numberId, accountId, settings })

const noNumber: NumberCheck = { problem: null, number: null, isOnPhone: false }

/** Checks the changed connection at the platform, outside any transaction. */
async function checkChanged(
  deps: ConnectionDeps,
  by: ChangeAuthor,
  id: string,
  apply: (one: StoredConnection) => StoredConnection,
): Promise<NumberCheck> {
  const applied = apply(await requireConnection(deps, by.workspaceId, id))
  if (isInSetup(applied) && isWithoutNumber(applied)) return noNumber
  return adapterOf(deps.adapters, applied).checkNumber(applied)
}

function withAllowedAddress(deps: ConnectionDeps, one: StoredConnection): StoredConnection {
  if (one.settings.baseUrl === null) return one
  const parsed = parseBaseUrl(one.settings.baseUrl, deps.outgoing)
  if ('refused' in parsed) throw invalid('baseUrl', parsed.refused)
  return { ...one, settings: { ...one.settings, baseUrl: parsed.baseUrl } } as StoredConnection
}

/** Returns the platform's URL without a trailing slash, or why it is not allowed. */
function parseBaseUrl(text: string, outgoing: Outgoing): { baseUrl: string } | { refused: string } {
  const refused = outgoing.refusal(text)
  if (refused !== null) return { refused }
  const url = new URL(text)
  if (url.search !== '') return { refused: 'must not have a query string: remove everything from the ? on' }
  if (url.pathname.includes('//')) return { refused: 'must not have an empty path segment' }
  return { baseUrl: url.href.replace(/\/?\??$/, '') }
}

const translateNumberTaken = (error: unknown): never => {
  throw isNumberTaken(error) ? numberTaken(error) : error
}

/** Returns the entry of the audit log for a change of a connection. */
export function auditEntry({ workspaceId, actor }: ChangeAuthor, action: string, connectionId: string) {
  return { scopeId: workspaceId, actor, action, target: `connection:${connectionId}` }
}

/** What is known of a number only once the platform has confirmed it. */
const unconfirmed = { reservedAs: null, phone: null, numberStatus: null, numberStatusDueAt: null }

const blankConnection = (now: Date) => ({
  state: 'active' as const,
  stateReason: null,
  stateChangedAt: now,
  holds: [],
  sendsMarketing: false,
  acknowledgedAt: null,
  acknowledgedBy: null,
  isOnPhone: false,
  ...unconfirmed,
  lastEventInAt: null,
  lastEventOutAt: null,
  templatesSyncedAt: null,
  createdAt: now,
  updatedAt: now,
})
