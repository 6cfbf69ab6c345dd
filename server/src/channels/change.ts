import { recordAudit } from '../base/audit.ts'
import type { Clock } from '../base/clock.ts'
import { type Db, violates } from '../base/db.ts'
import { forbidden } from '../base/errors.ts'
import type { Outgoing } from '../base/guarded-fetch.ts'
import { newId } from '../base/id.ts'
import type { Keyring } from '../base/keyring.ts'
import type { TeamActor } from '../base/member.ts'
import { makeToken } from '../base/secret-token.ts'
import type { Vault } from '../base/vault.ts'
import { readBaseUrl } from './base-url.ts'
import type { StoredConnection, StoredWaba, WabaSettings } from './connection.ts'
import { badBaseUrl, connectionNotFound, noRisk, numberTaken } from './errors.ts'
import { findConnection, insertConnection, lockConnection, retireConnection, updateConnection } from './queries.ts'
import type { ConnectionChanges, NewConnection } from './schema.ts'
import type { CheckedNumber, CheckNumber } from './waba/check-number.ts'

export interface ConnectionDeps {
  db: Db
  vault: Vault
  clock: Clock
  checkNumber: CheckNumber
  /** Says which platforms may be connected. */
  outgoing: Outgoing
}

/** Who changes a connection; `userId` is null for a token or the service itself. */
export interface Changer {
  workspaceId: string
  userId: string | null
  actor: TeamActor | { type: 'system'; id: null }
}

export const defaultBaseUrl = 'https://graph.facebook.com'
export const defaultVersion = 'v25.0'

/**
 * Connects a number of the official platform. It is asked for first: when it does not answer, the connection is made
 * all the same and is `unavailable` with the reason. Refuses a bad address with 400, a number in use with 409.
 */
export async function createConnection(deps: ConnectionDeps, by: Changer, input: NewConnection): Promise<StoredWaba> {
  const now = deps.clock.now()
  const connection: StoredWaba = {
    ...blank(now),
    workspaceId: by.workspaceId,
    id: newId(now),
    channel: input.channel,
    name: input.name.trim(),
    numberId: input.numberId,
    accountId: input.accountId ?? null,
    settings: settingsOf(deps, {
      baseUrl: input.baseUrl ?? defaultBaseUrl,
      version: input.version ?? defaultVersion,
      accessToken: input.accessToken,
      appSecret: input.appSecret,
      verifyToken: input.verifyToken ?? makeToken(),
    }),
  }
  const checked = withCheck(connection, await deps.checkNumber(connection), now)
  const keyring = await deps.vault.keyring(by.workspaceId)
  await whileNumberIsFree(() =>
    deps.db.tx(async (tx) => {
      await insertConnection(tx, keyring, checked)
      await recordAudit(tx, entry(by, 'connection.added', checked.id), now)
    }),
  )
  return checked
}

/** Changes what the input names; when that is how the platform is reached, the number is asked for again. */
export async function changeConnection(
  deps: ConnectionDeps,
  by: Changer,
  id: string,
  input: ConnectionChanges,
): Promise<StoredConnection> {
  const { name, numberId, accountId, ...settings } = input
  const apply = (one: StoredConnection): StoredConnection => ({
    ...waba(one),
    name: name?.trim() ?? one.name,
    numberId: numberId ?? one.numberId,
    accountId: accountId === undefined ? one.accountId : accountId,
    settings: settingsOf(deps, { ...waba(one).settings, ...settings }),
  })
  const isReachedAnew = numberId !== undefined || Object.keys(settings).some((field) => field !== 'verifyToken')
  const check = isReachedAnew ? await checkAfter(deps, by, id, apply) : undefined
  return update(deps, by, id, 'connection.changed', (one, now) => {
    const changed = apply(one)
    return check === undefined || one.state === 'paused' ? changed : withCheck(changed, check, now)
  })
}

/** Stops sending over a connection. What customers write still arrives. */
export function pauseConnection(deps: ConnectionDeps, by: Changer, id: string): Promise<StoredConnection> {
  return update(deps, by, id, 'connection.paused', (one, now) =>
    one.state === 'paused' ? one : { ...one, state: 'paused', stateReason: null, stateChangedAt: now },
  )
}

/** Lets a connection send again, if the platform answers for its number. */
export async function resumeConnection(deps: ConnectionDeps, by: Changer, id: string): Promise<StoredConnection> {
  const check = await checkAfter(deps, by, id, (one) => one)
  return update(deps, by, id, 'connection.resumed', (one, now) => withCheck(one, check, now))
}

/** Disconnects a number and forgets its secrets. Its conversations stay to be read. */
export async function removeConnection(deps: ConnectionDeps, by: Changer, id: string): Promise<void> {
  const keyring = await deps.vault.keyring(by.workspaceId)
  await deps.db.tx(async (tx) => {
    const now = deps.clock.now()
    if (!(await retireConnection(tx, keyring, by.workspaceId, id, now))) throw connectionNotFound()
    await recordAudit(tx, entry(by, 'connection.removed', id), now)
  })
}

/** A person confirms the risk of an unofficial connection, for 90 days or until it is paired anew. */
export async function acknowledgeRisk(deps: ConnectionDeps, by: Changer, id: string): Promise<StoredConnection> {
  const { userId } = by
  if (userId === null) throw forbidden('Only a person can confirm the risk: sign in as a member')
  return update(deps, by, id, 'connection.acknowledged', (one, now) => {
    if (one.channel !== 'unofficial') throw noRisk()
    return { ...one, acknowledgedAt: now, acknowledgedBy: userId }
  })
}

async function update(
  deps: ConnectionDeps,
  by: Changer,
  id: string,
  action: string,
  change: (one: StoredConnection, now: Date) => StoredConnection,
): Promise<StoredConnection> {
  const keyring: Keyring = await deps.vault.keyring(by.workspaceId)
  return whileNumberIsFree(() =>
    deps.db.tx(async (tx) => {
      const now = deps.clock.now()
      const current = await lockConnection(tx, keyring, by.workspaceId, id)
      if (current === undefined) throw connectionNotFound()
      const changed = { ...change(current, now), updatedAt: now }
      await updateConnection(tx, keyring, changed)
      await recordAudit(tx, entry(by, action, id), now)
      return changed
    }),
  )
}

/** Asks the platform outside of any transaction, as the connection will be. */
async function checkAfter(
  deps: ConnectionDeps,
  by: Changer,
  id: string,
  apply: (one: StoredConnection) => StoredConnection,
): Promise<CheckedNumber> {
  const keyring = await deps.vault.keyring(by.workspaceId)
  const current = await findConnection(deps.db.sql, keyring, by.workspaceId, id)
  if (current === undefined) throw connectionNotFound()
  return deps.checkNumber(waba(apply(current)))
}

function settingsOf(deps: ConnectionDeps, settings: WabaSettings): WabaSettings {
  const read = readBaseUrl(settings.baseUrl, deps.outgoing)
  if ('refused' in read) throw badBaseUrl(read.refused)
  return { ...settings, baseUrl: read.baseUrl }
}

function waba(one: StoredConnection): StoredWaba {
  if (one.channel !== 'waba') throw connectionNotFound()
  return one
}

function withCheck<C extends StoredConnection>(before: C, check: CheckedNumber, now: Date): C {
  const { problem } = check
  const one = problem === null ? { ...before, isOnPhone: check.isOnPhone } : before
  const state = problem === null ? 'active' : 'unavailable'
  const isSame = one.state === state && one.stateReason === problem
  return isSame ? one : { ...one, state, stateReason: problem, stateChangedAt: now }
}

async function whileNumberIsFree<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (violates(error, 'connections_number_key')) throw numberTaken(error)
    throw error
  }
}

function entry({ workspaceId, actor }: Changer, action: string, connectionId: string) {
  return { scopeId: workspaceId, actor, action, target: `connection:${connectionId}` }
}

const blank = (now: Date) => ({
  state: 'active' as const,
  stateReason: null,
  stateChangedAt: now,
  acknowledgedAt: null,
  acknowledgedBy: null,
  isOnPhone: false,
  lastEventInAt: null,
  lastEventOutAt: null,
  templatesSyncedAt: null,
  createdAt: now,
  updatedAt: now,
})
