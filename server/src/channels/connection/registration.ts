import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/db.ts'
import type { KeyStore } from '../../base/encryption/key-store.ts'
import { adapterOf, type ChannelAdapters, type CheckedNumber } from '../adapter.ts'
import { claimTry, codeOf, holdConnection, holdsOf } from '../health/availability.ts'
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
/** Reasons that pass without anybody doing something about the connection. */
const passing = new Set<string | null>(['unreachable', notRegistered, 'public_url_not_reachable'])

/** What a check makes of a connection. Where we tell the platform where to call, it is unavailable until that is done. */
export function withCheck<C extends StoredConnection>(
  adapters: ChannelAdapters,
  before: C,
  check: CheckedNumber,
  now: Date,
): C {
  const one = check.problem === null ? { ...before, isOnPhone: check.isOnPhone } : before
  return withProblem(
    reserved(one, check),
    check.problem ?? (adapterOf(adapters, one).register ? notRegistered : null),
    now,
  )
}

/** Tells the platform of a checked connection where to call, if that is for us to do. The connection as it is then. */
export async function register(
  deps: RegistrationDeps,
  one: StoredConnection,
  check: CheckedNumber,
): Promise<StoredConnection> {
  const adapter = adapterOf(deps.adapters, one)
  if (check.problem !== null || adapter.register === undefined) return one
  return settle(deps, one, await adapter.register(one))
}

/**
 * Tries again to reach a connection's platform, if it was only away, or refused for what such a question finds out: then at
 * growing intervals.
 */
export async function retry(deps: RegistrationDeps, one: StoredConnection): Promise<void> {
  if (!isWaiting(one) && !(await mayAsk(deps, one))) return
  const adapter = adapterOf(deps.adapters, one)
  const check = await adapter.check(one)
  // Reserved before it is registered: that takes the callbacks from wherever they went.
  const problem = check.problem ?? (await reserve(deps, one, check))
  await settle(deps, one, problem ?? (await adapter.register?.(one)) ?? null)
}

async function mayAsk({ db, clock }: RegistrationDeps, one: StoredConnection): Promise<boolean> {
  const hold = readHold(one)
  const now = clock.now()
  if (hold === undefined || !isDue(hold, now)) return false
  return db.tx((tx) => claimTry(tx, one, hold.reason, now))
}

/** The hold of everything that a question for the number may end. */
const readHold = (one: StoredConnection) =>
  holdsOf(one).find(({ stops, probe, liftedAt }) => stops === 'all' && probe === 'read' && liftedAt === null)

/** Why the number could not be reserved, or null. */
async function reserve(deps: RegistrationDeps, one: StoredConnection, check: CheckedNumber): Promise<string | null> {
  const keyring = await deps.keyStore.keyring(one.workspaceId)
  try {
    await deps.db.tx(async (tx) => {
      const current = await lockConnection(tx, keyring, one.workspaceId, one.id)
      if (current === undefined || !isSameNumber(current, one)) return
      const after = reserved(current, check)
      if (after.reservedAs !== current.reservedAs || after.phone !== current.phone)
        await updateConnection(tx, keyring, after)
    })
    return null
  } catch (error) {
    if (isNumberTaken(error)) return connectedElsewhere
    throw error
  }
}

async function settle(
  deps: RegistrationDeps,
  one: StoredConnection,
  problem: string | null,
): Promise<StoredConnection> {
  const keyring = await deps.keyStore.keyring(one.workspaceId)
  return deps.db.tx(async (tx) => {
    const current = await lockConnection(tx, keyring, one.workspaceId, one.id)
    const isAsked = current !== undefined && readHold(current) !== undefined
    if (current === undefined || !(isWaiting(current) || isAsked)) return current ?? one
    const now = deps.clock.now()
    if (problem !== null && problem === current.stateReason) {
      if (isAsked) await holdConnection(tx, one, codeOf(problem), now, 'all')
      return current
    }
    const settled = withProblem({ ...current, updatedAt: now }, problem, now)
    await updateConnection(tx, keyring, settled)
    return settled
  })
}

const isWaiting = ({ state, stateReason }: StoredConnection) => state === 'unavailable' && passing.has(stateReason)

function withProblem<C extends StoredConnection>(one: C, problem: string | null, now: Date): C {
  const state = problem === null ? 'active' : 'unavailable'
  const isSame = one.state === state && one.stateReason === problem
  return isSame ? one : { ...one, state, stateReason: problem, stateChangedAt: now }
}

/** Where the platform is; null is the real network of phones. */
export function originOf(baseUrl: string | null): string {
  return baseUrl === null ? 'network' : new URL(baseUrl).origin
}

/** How a number is reserved: what one platform calls a number says nothing of another platform's. */
export function reservationOf(baseUrl: string | null, number: string): string {
  return `${originOf(baseUrl)} ${number}`
}

/** The connection with its number reserved, if the platform has answered for it, and with what customers see of it. */
export function reserved<C extends StoredConnection>(one: C, { problem, number, phone = null }: CheckedNumber): C {
  if (problem !== null || number === null) return one
  return { ...one, reservedAs: reservationOf(one.settings.baseUrl, number), phone: phone ?? one.phone }
}

/** Whether two states of a connection lead to one number of one platform. */
export function isSameNumber(a: StoredConnection, b: StoredConnection): boolean {
  return a.numberId === b.numberId && originOf(a.settings.baseUrl) === originOf(b.settings.baseUrl)
}
