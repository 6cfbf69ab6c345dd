import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/db.ts'
import type { KeyStore } from '../../base/encryption/key-store.ts'
import { adapterOf, type ChannelAdapters, type NumberCheck } from '../adapter.ts'
import { claimProbe, errorCodeOf, holdConnection, holdsOf } from '../health/availability.ts'
import { isDue } from '../health/holds.ts'
import { isNumberTaken, type StoredConnection } from './connection.ts'
import { lockConnection, updateConnection } from './queries.ts'

export interface RegistrationDeps {
  db: Db
  keyStore: KeyStore
  clock: Clock
  adapters: ChannelAdapters
}

const notRegistered = 'webhook_not_registered'
const connectedElsewhere = 'number_connected_elsewhere'
/** Reasons that can end without a change to the connection. */
const transientReasons = new Set<string | null>(['unreachable', notRegistered, 'public_url_not_reachable'])

/** Returns the connection after a check; unavailable until its webhook is registered, if the adapter does that. */
export function applyCheck<C extends StoredConnection>(
  adapters: ChannelAdapters,
  before: C,
  check: NumberCheck,
  now: Date,
): C {
  const one = check.problem === null ? { ...before, isOnPhone: check.isOnPhone } : before
  return withProblem(
    withReservation(one, check),
    check.problem ?? (adapterOf(adapters, one).registerWebhook ? notRegistered : null),
    now,
  )
}

/** Registers the webhook of a checked connection, if its adapter does that. Returns the resulting connection. */
export async function registerConnection(
  deps: RegistrationDeps,
  one: StoredConnection,
  check: NumberCheck,
): Promise<StoredConnection> {
  const adapter = adapterOf(deps.adapters, one)
  if (check.problem !== null || adapter.registerWebhook === undefined) return one
  return storeCheckResult(deps, one, await adapter.registerWebhook(one))
}

/** Retries a connection that was unreachable, or has a hold tested by a check; the latter at growing intervals. */
export async function retryConnection(deps: RegistrationDeps, one: StoredConnection): Promise<void> {
  if (!isRetryable(one) && !(await claimNumberCheck(deps, one))) return
  const adapter = adapterOf(deps.adapters, one)
  const check = await adapter.checkNumber(one)
  // Reserves the number first: registration diverts callbacks from their previous target.
  const problem = check.problem ?? (await reserve(deps, one, check))
  await storeCheckResult(deps, one, problem ?? (await adapter.registerWebhook?.(one)) ?? null)
}

async function claimNumberCheck({ db, clock }: RegistrationDeps, one: StoredConnection): Promise<boolean> {
  const hold = findCheckableHold(one)
  const now = clock.now()
  if (hold === undefined || !isDue(hold, now)) return false
  return db.tx((tx) => claimProbe(tx, one, hold.reason, now))
}

/** Returns the hold of everything that a number check can end. */
const findCheckableHold = (one: StoredConnection) =>
  holdsOf(one).find(({ stops, probe, liftedAt }) => stops === 'all' && probe === 'read' && liftedAt === null)

/** Reserves the number. Returns null, or the reason for a failure. */
export async function reserve(
  deps: RegistrationDeps,
  one: StoredConnection,
  check: NumberCheck,
): Promise<string | null> {
  const keyring = await deps.keyStore.keyring(one.workspaceId)
  try {
    await deps.db.tx(async (tx) => {
      const current = await lockConnection(tx, keyring, one.workspaceId, one.id)
      if (current === undefined || !isSameNumber(current, one)) return
      const after = withReservation(current, check)
      if (after.reservedAs !== current.reservedAs || after.phone !== current.phone)
        await updateConnection(tx, keyring, after)
    })
    return null
  } catch (error) {
    if (isNumberTaken(error)) return connectedElsewhere
    throw error
  }
}

async function storeCheckResult(
  deps: RegistrationDeps,
  one: StoredConnection,
  problem: string | null,
): Promise<StoredConnection> {
  const keyring = await deps.keyStore.keyring(one.workspaceId)
  return deps.db.tx(async (tx) => {
    const current = await lockConnection(tx, keyring, one.workspaceId, one.id)
    const isProbed = current !== undefined && findCheckableHold(current) !== undefined
    if (current === undefined || !(isRetryable(current) || isProbed)) return current ?? one
    const now = deps.clock.now()
    if (problem !== null && problem === current.stateReason) {
      if (isProbed) await holdConnection(tx, one, errorCodeOf(problem), now, 'all')
      return current
    }
    const settled = withProblem({ ...current, updatedAt: now }, problem, now)
    await updateConnection(tx, keyring, settled)
    return settled
  })
}

const isRetryable = ({ state, stateReason }: StoredConnection) =>
  state === 'unavailable' && transientReasons.has(stateReason)

function withProblem<C extends StoredConnection>(one: C, problem: string | null, now: Date): C {
  const state = problem === null ? 'active' : 'unavailable'
  const isSame = one.state === state && one.stateReason === problem
  return isSame ? one : { ...one, state, stateReason: problem, stateChangedAt: now }
}

/** Returns the platform's origin; `network` for the real network of phones (null). */
export function originOf(baseUrl: string | null): string {
  return baseUrl === null ? 'network' : new URL(baseUrl).origin
}

/** Returns the reservation key of a number, with the origin: the same number on two platforms is unrelated. */
export function reservationOf(baseUrl: string | null, number: string): string {
  return `${originOf(baseUrl)} ${number}`
}

/** Reserves the number and sets the phone that customers see, if the platform has confirmed the number. */
export function withReservation<C extends StoredConnection>(one: C, { problem, number, phone = null }: NumberCheck): C {
  if (problem !== null || number === null) return one
  return { ...one, reservedAs: reservationOf(one.settings.baseUrl, number), phone: phone ?? one.phone }
}

/** Returns whether two states of a connection refer to the same number on the same platform. */
export function isSameNumber(a: StoredConnection, b: StoredConnection): boolean {
  return a.numberId === b.numberId && originOf(a.settings.baseUrl) === originOf(b.settings.baseUrl)
}
