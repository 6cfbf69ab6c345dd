import type { Fragment, Sql, Tx } from '../base/db.ts'
import type { Keyring } from '../base/encryption/keyring.ts'
import { createStep, type ErasureScope, type ErasureStep } from '../base/erasure.ts'
import { newId } from '../base/id.ts'
import { phoneClass, phoneKeys } from '../base/phone/phone-variants.ts'
import { byteaArray } from '../base/postgres/values.ts'
import { type Actor, systemActor } from '../workspaces/actor.ts'
import type { Consent, ConsentCustomer, ConsentPurpose, Decisions, KnownConsent, NewConsent } from './consent.ts'
import { consentPurposes, noDecisions, orderConsent } from './consent.ts'

/** Decisions kept per customer and purpose; older ones are deleted. */
export const maxConsents = 50

/** Longest history of a customer. */
export const maxListed = maxConsents * consentPurposes.length

const undoWithinMs = 10 * 60_000

interface ConsentRow extends KnownConsent {
  id: string
  purpose: ConsentPurpose
  connectionId: string | null
  actorType: Actor['type']
  actorId: string | null
  customer: Buffer
  phoneIndex: Buffer | null
  userIndex: Buffer | null
}

/** A transaction that changes decisions, with its time. */
interface ConsentTx {
  tx: Tx
  keyring: Keyring
  workspaceId: string
  now: Date
}

export interface RecordedConsent {
  /** The customer's current decision. */
  current: Consent
  /** Whether the given decision was recorded; false for a repeat. */
  isNew: boolean
}

/** Records a decision in the customer's history and returns the current one. Concurrent calls wait for each other. */
export async function storeConsent(work: ConsentTx, next: NewConsent): Promise<RecordedConsent> {
  const { tx, keyring, workspaceId, now } = work
  await lockConsents(tx, keyring, next.customer)
  const known = await selectRows(tx, workspaceId, digestsOf(keyring, [next.customer]))
  const { purpose = 'marketing' } = next
  const isOwn = belongsTo(keyring, next.customer)
  const own = known.filter((row) => row.purpose === purpose && isOwn(row))
  const order = orderConsent(next, own)
  const current = own.find(({ isLate }) => !isLate)
  if (order === 'repeated' && current !== undefined) return { current: toConsent(current), isNew: false }
  const id = newId(now)
  // After the current one: the clocks of two machines differ, and two decisions can be made in one millisecond.
  const decidedAt = new Date(Math.max(now.getTime(), (current?.decidedAt.getTime() ?? 0) + 1))
  await insertRow(work, { ...next, purpose, id, decidedAt, isLate: order === 'late' })
  const surplus = own.slice(maxConsents - 1).flatMap((row) => (row === current ? [] : [row.id]))
  if (surplus.length > 0) {
    await tx`
      delete from consents
      where workspace_id = ${workspaceId}
        and id = any (${surplus}::uuid[])`
  }
  const { decision, source, actor, connectionId } = next
  const counts = { id, purpose, decision, source, actor, connectionId, decidedAt }
  return { current: order === 'late' && current !== undefined ? toConsent(current) : counts, isNew: true }
}

/**
 * Deletes the customer's current decision if this actor made it a short time ago, so that a mistake does not look like
 * a decision. Returns the one that is current then, null for none; undefined if there was nothing to undo.
 */
export async function undoConsent(
  { tx, keyring, workspaceId, now }: ConsentTx,
  { customer, actor, purpose = 'marketing' }: Pick<NewConsent, 'customer' | 'actor' | 'purpose'>,
): Promise<Consent | null | undefined> {
  await lockConsents(tx, keyring, customer)
  const ofPurpose = tx`and not is_late and purpose = ${purpose}`
  const rows = await selectRows(tx, workspaceId, digestsOf(keyring, [customer]), ofPurpose)
  const [last, former] = rows.filter(belongsTo(keyring, customer))
  const isOwn = last !== undefined && last.actorType === actor.type && last.actorId === actor.id
  if (!isOwn || now.getTime() - last.decidedAt.getTime() > undoWithinMs) return undefined
  await tx`
    delete from consents
    where workspace_id = ${workspaceId}
      and id = ${last.id}`
  return former === undefined ? null : toConsent(former)
}

/** Returns the current decisions of each customer, in one statement. */
export async function findConsents(
  sql: Sql,
  keyring: Keyring,
  workspaceId: string,
  customers: readonly ConsentCustomer[],
): Promise<Decisions[]> {
  const rows = await selectRows(sql, workspaceId, digestsOf(keyring, customers), sql`and not is_late`)
  if (rows.length === 0) return customers.map(() => noDecisions)
  return customers.map((customer) => {
    const own = rows.filter(belongsTo(keyring, customer))
    const currentOf = (purpose: ConsentPurpose) => {
      const row = own.find((one) => one.purpose === purpose)
      return row === undefined ? null : toConsent(row)
    }
    return { marketing: currentOf('marketing'), utility: currentOf('utility') }
  })
}

/** Returns the decisions of a customer with any of these phones, newest first. Those that arrived late never counted. */
export async function listConsents(
  sql: Sql,
  keyring: Keyring,
  workspaceId: string,
  phones: readonly string[],
): Promise<(Consent & { isLate: boolean })[]> {
  const customers = phones.map((phone) => ({ phone, userId: null }))
  const rows = await selectRows(sql, workspaceId, digestsOf(keyring, customers))
  return rows.slice(0, maxListed).map((row) => ({ ...toConsent(row), isLate: row.isLate }))
}

/** Gives a customer's decisions the identifiers that the customer has now: a new number, or one that became known. */
export async function relabelConsents(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  before: ConsentCustomer,
  after: ConsentCustomer,
): Promise<void> {
  const rows = await selectRows(tx, workspaceId, digestsOf(keyring, [before]))
  for (const row of rows.filter(belongsTo(keyring, before))) {
    const { id } = row
    const labelled = encryptCustomer(keyring, id, after)
    await tx`
      update consents
      set customer = ${labelled.customer},
        phone_index = ${labelled.phone_index},
        user_index = ${labelled.user_index},
        index_version = ${labelled.index_version}
      where workspace_id = ${workspaceId}
        and id = ${id}`
  }
}

/** A number of a lead, and the one that replaces it. */
export interface PhoneChange {
  from: string | null
  to: string | null
}

/**
 * Records an opt-out also for the number that replaces the lead's, unless its holder has decided. The former number
 * keeps it: it may have been mistyped, or belong to someone else by now, whom nobody has asked.
 */
export async function carryOptOuts(work: ConsentTx, changes: readonly PhoneChange[]): Promise<void> {
  const { tx, keyring, workspaceId } = work
  const moves = changes.flatMap(({ from, to }) =>
    from === null || to === null || phoneClass(from) === phoneClass(to) ? [] : [{ from, to }],
  )
  if (moves.length === 0) return
  const phones = moves.flatMap(({ from, to }) => [from, to]).map((phone) => ({ phone, userId: null }))
  const found = await findConsents(tx, keyring, workspaceId, phones)
  const carried = moves.flatMap(({ to }, n) =>
    consentPurposes.flatMap((purpose) => {
      const [consent, own] = [found[2 * n]?.[purpose] ?? null, found[2 * n + 1]?.[purpose] ?? null]
      return consent?.decision === 'opted_out' && own === null ? [{ to, consent }] : []
    }),
  )
  // Sorted, so that two batches cannot deadlock.
  for (const { to, consent } of carried.sort((a, b) => (a.to < b.to ? -1 : 1))) {
    const { purpose, decision, source, actor, connectionId } = consent
    const customer = { phone: to, userId: null }
    const carriedConsent = { customer, purpose, decision, source, actor, connectionId, reportedAt: null }
    await storeConsent(work, carriedConsent)
  }
}

interface Digests {
  phones: Buffer[]
  users: Buffer[]
}

async function selectRows(sql: Sql, workspaceId: string, { phones, users }: Digests, condition: Fragment = sql``) {
  if (phones.length + users.length === 0) return []
  return sql<ConsentRow[]>`
    select id, purpose, decision, source, customer, phone_index as "phoneIndex", user_index as "userIndex",
      connection_id as "connectionId", actor_type as "actorType", actor_id as "actorId",
      reported_at as "reportedAt", decided_at as "decidedAt", is_late as "isLate"
    from consents
    where workspace_id = ${workspaceId}
      and (phone_index = any (${byteaArray(phones)}::bytea[]) or user_index = any (${byteaArray(users)}::bytea[]))
      ${condition}
    order by decided_at desc, id desc`
}

/** Returns whether a row is of the customer. A phone identifies a person until it appears with another user id. */
function belongsTo(keyring: Keyring, customer: ConsentCustomer) {
  const { phones, users } = digestsOf(keyring, [customer])
  const isIn = (digests: readonly Buffer[], digest: Buffer | null) =>
    digest !== null && digests.some((one) => one.equals(digest))
  return ({ phoneIndex, userIndex }: Pick<ConsentRow, 'phoneIndex' | 'userIndex'>): boolean =>
    isIn(users, userIndex) || (isIn(phones, phoneIndex) && (userIndex === null || users.length === 0))
}

function toConsent(row: ConsentRow): Consent {
  const { id, purpose, decision, source, connectionId, actorType, actorId, decidedAt } = row
  const actor = actorType === 'system' ? systemActor : { type: actorType, id: actorId ?? '' }
  return { id, purpose, decision, source, connectionId, actor, decidedAt }
}

async function insertRow(
  { tx, keyring, workspaceId }: ConsentTx,
  consent: NewConsent & Pick<ConsentRow, 'id' | 'purpose' | 'decidedAt' | 'isLate'>,
): Promise<void> {
  const { id, actor } = consent
  const row = encryptCustomer(keyring, id, consent.customer)
  await tx`
    insert into consents (
      workspace_id, id, channel, purpose, decision, source, customer, phone_index, user_index, index_version,
      connection_id, actor_type, actor_id, reported_at, decided_at, is_late
    )
    values (
      ${workspaceId}, ${id}, 'whatsapp', ${consent.purpose}, ${consent.decision}, ${consent.source}, ${row.customer},
      ${row.phone_index}, ${row.user_index}, ${row.index_version}, ${consent.connectionId}, ${actor.type}, ${actor.id},
      ${consent.reportedAt}, ${consent.decidedAt}, ${consent.isLate}
    )`
}

const customerContext = (id: string) => ({ table: 'consents', row: id, column: 'customer' })

export function decryptCustomer(keyring: Keyring, id: string, encrypted: Buffer): ConsentCustomer {
  const [phone, userId] = JSON.parse(keyring.decryptText(customerContext(id), encrypted)) as (string | null)[]
  return { phone: phone ?? null, userId: userId ?? null }
}

function encryptCustomer(keyring: Keyring, id: string, customer: ConsentCustomer) {
  const { phone, userId } = customer
  return {
    customer: keyring.encrypt(customerContext(id), JSON.stringify([phone, userId])),
    ...consentIndexes(keyring, customer),
  }
}

export function consentIndexes(keyring: Keyring, { phone, userId }: ConsentCustomer) {
  return {
    phone_index: phone === null ? null : keyring.exact(phoneLabel, phoneClass(phone)),
    user_index: userId === null ? null : keyring.exact(userLabel, userId),
    index_version: keyring.indexVersion,
  }
}

const phoneLabel = 'consent.phone'
const userLabel = 'consent.user'

/** Returns the digests under which decisions of these customers may be stored, also while the index key is rotated. */
function digestsOf(keyring: Keyring, customers: readonly ConsentCustomer[]): Digests {
  return {
    phones: customers.flatMap(({ phone }) =>
      phone === null ? [] : phoneKeys(phone).flatMap((key) => keyring.exacts(phoneLabel, key)),
    ),
    users: customers.flatMap(({ userId }) => (userId === null ? [] : keyring.exacts(userLabel, userId))),
  }
}

/** Erases the customer's decisions. Few: the history of a customer is bounded. */
export async function eraseConsents(
  tx: Tx,
  { workspaceId, keyring, customer, createdBefore }: ErasureScope,
): Promise<ErasureStep> {
  const { phones, users } = digestsOf(keyring, [
    ...customer.phones.map((phone) => ({ phone, userId: null })),
    ...customer.userIds.map((userId) => ({ phone: null, userId })),
  ])
  const erased = await tx`
    delete from consents
    where workspace_id = ${workspaceId}
      and (phone_index = any (${byteaArray(phones)}::bytea[]) or user_index = any (${byteaArray(users)}::bytea[]))
      and decided_at <= ${createdBefore}`
  return createStep({ consents: erased.count }, false)
}

/** Two decisions of a customer wait for each other, even the first two. All processes know the lowest version. */
async function lockConsents(tx: Tx, keyring: Keyring, { phone, userId }: ConsentCustomer): Promise<void> {
  const digests = [
    ...(phone === null ? [] : keyring.exacts(phoneLabel, phoneClass(phone)).slice(0, 1)),
    ...(userId === null ? [] : keyring.exacts(userLabel, userId).slice(0, 1)),
  ]
  const keys = digests.map((digest) => digest.readBigInt64BE(0)).sort((a, b) => (a < b ? -1 : 1))
  await tx`select pg_advisory_xact_lock(key) from unnest(${keys.map(String)}::bigint[]) as k (key)`.execute()
}
