import { type Db, type Fragment, pipelineCommit, type Tx } from '../../base/db.ts'
import { decryptOrNull } from '../../base/encryption/encrypt.ts'
import type { KeyStore } from '../../base/encryption/key-store.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { type Columns, columnNames, unnested } from '../../base/postgres/rows.ts'
import { SqlPart } from '../../base/postgres/template.ts'
import type { ChannelEvent, DeliveryStatus, Pricing } from '../../channels/channel-event.ts'
import type { WorkspaceTx } from '../conversation/conversation.ts'
import { decryptTemplateName } from '../conversation/message.ts'
import { lockExternalIds } from '../conversation/message-queries.ts'
import { opaqueWorkspaceId } from '../conversation/queries.ts'
import { countryOf } from './markets.ts'

/** A status with a price, with its connection and the digest of its platform id. */
export interface PricedStatus {
  connectionId: string
  externalIndex: Buffer
  event: Pick<Extract<ChannelEvent, { type: 'status' }>, 'status' | 'customer' | 'at'>
  pricing: Pricing
}

interface RecordDeps {
  db: Db
  keyStore: Pick<KeyStore, 'withKeyring'>
}

const maxCharges = 500

/**
 * Records what the platform reports about the prices of its messages. Call it after the statuses have been applied. The
 * result does not depend on how often, in which order and in which batches the statuses arrive.
 */
export async function recordCharges(
  { db, keyStore }: RecordDeps,
  workspaceId: string,
  statuses: readonly PricedStatus[],
): Promise<void> {
  for (let at = 0; at < statuses.length; at += maxCharges) {
    const some = statuses.slice(at, at + maxCharges)
    const charges = chargesOf(some)
    await keyStore.withKeyring(workspaceId, (keyring) => db.tx((tx) => store({ tx, keyring, workspaceId }, charges)))
  }
}

/** The prices reported for a message, which the caller has read. */
export interface MessagePrices {
  messageId: string
  reports: readonly PriceReport[]
  /** Content of a template's message sent here; null for others. */
  template: Buffer | null
}

/** SQL whose text is built once: every status with a price sends it. */
const constantSql = (text: string) =>
  new SqlPart((draft) => {
    draft.text += text
  })

/** SQL: what `insertCharges` needs of `messages m`. Messages of other apps are charges without conversation and sender. */
export const chargedColumns = constantSql(`m.connection_id,
  case when m.origin = 'live' then m.conversation_id end as conversation_id,
  case when m.origin = 'live' then m.actor_id end as actor_id,
  m.external_index,
  case when m.origin = 'live' then m.actor_type end as actor_type`)

/**
 * Returns a statement that records prices of settled messages as part of the statement that advances them, under the
 * locks of their conversations. `climbed` has the ids and `chargedColumns` of those that were advanced.
 */
export function insertCharges(tx: Tx, keyring: Keyring, workspaceId: string, prices: readonly MessagePrices[]) {
  const rows = prices.flatMap(({ messageId, reports, template: content }) => {
    const charge = chargeOf(reports)
    return charge === null ? [] : [{ ...charge, messageId, template: templateOf(keyring, messageId, content) }]
  })
  return upsert(tx, workspaceId, tx`${unnested(rows, advancedColumns)} join climbed on climbed.id = n.message_id`)
}

/** What the platform reports about the price of one of its messages. */
interface PriceReport {
  event: PricedStatus['event']
  pricing: Pricing
}

interface Charge extends Pricing {
  country: string | null
  step: number
  delivered: boolean | null
  chargedAt: Date
}

/** A charge with the id of the platform's message. */
type IdentifiedCharge = Charge & Pick<PricedStatus, 'connectionId' | 'externalIndex'>

// The platform reports the price with `sent`, and once more with `delivered` or `read`, whichever comes first.
const steps: Record<DeliveryStatus, number> = { failed: 0, sent: 1, delivered: 2, read: 2 }

/** Returns one charge per platform message: a statement cannot update a row twice. */
function chargesOf(statuses: readonly PricedStatus[]): IdentifiedCharge[] {
  // The digest includes the connection.
  const byMessage = Map.groupBy(statuses, ({ externalIndex }) => externalIndex.toString('hex'))
  return [...byMessage.values()].flatMap((reports) => {
    const [charge, first] = [chargeOf(reports), reports[0]]
    if (charge === null || first === undefined) return []
    return [{ ...charge, connectionId: first.connectionId, externalIndex: first.externalIndex }]
  })
}

/** Returns what all reports about a message say together; null if all are of failures. */
function chargeOf(reports: readonly PriceReport[]): Charge | null {
  let merged: Charge | null = null
  for (const { pricing, event } of reports) {
    const { status, customer, at: chargedAt } = event
    const step = steps[status]
    if (step === 0) continue
    const country = customer === null ? null : countryOf(customer)
    const one = { ...pricing, country, step, delivered: step > steps.sent ? true : null, chargedAt }
    merged = merged === null ? one : merge(merged, one)
  }
  return merged
}

/** Merges two reports in any order. `mergeWithStored` has the same rule. */
function merge(a: Charge, b: Charge): Charge {
  const { type, category, isBillable, step } = isPreferred(a, b) ? a : b
  return {
    ...a,
    ...{ type, category, isBillable, step },
    freeUntil: laterOf(a.freeUntil, b.freeUntil),
    country: a.country ?? b.country,
    delivered: a.delivered || b.delivered || null,
    chargedAt: a.chargedAt < b.chargedAt ? a.chargedAt : b.chargedAt,
  }
}

/** The platform tells the end with the first status only. */
const laterOf = (a: Date | null, b: Date | null): Date | null => (a === null || (b !== null && b > a) ? b : a)

// The report on the later step wins. Two on the same step should be equal; if not, one of them always wins.
function isPreferred(a: Charge, b: Charge): boolean {
  const [one, other] = [preferenceOf(a), preferenceOf(b)]
  const differing = one.findIndex((value, n) => value !== other[n])
  return differing >= 0 && (one[differing] ?? '') > (other[differing] ?? '')
}

const preferenceOf = ({ step, type, category, isBillable }: Charge): (string | number)[] => [
  step,
  type,
  category,
  isBillable === null ? '' : String(isBillable),
]

/** The message that a charge is for, sent here. */
interface ChargedMessage {
  conversationId: string
  actorType: string | null
  actorId: string | null
  /** Of a template's message only. */
  messageId: string | null
  content: Buffer | null
}

interface FoundMessage extends ChargedMessage {
  externalIndex: Buffer
  isFailed: boolean
}

async function store({ tx, keyring, workspaceId }: WorkspaceTx, charges: readonly IdentifiedCharge[]) {
  // Of a send that stores these ids concurrently, or a failure of it, one transaction sees the other.
  const indexes = charges.map((charge) => charge.externalIndex)
  const [, messages] = await Promise.all([lockExternalIds(tx, indexes), selectMessages(tx, workspaceId, charges)])
  const byIndex = new Map(messages.map((message) => [message.externalIndex.toString('hex'), message]))
  const rows = charges.map((charge) => {
    const message = byIndex.get(charge.externalIndex.toString('hex'))
    return {
      ...charge,
      ...detailsOf(keyring, message),
      delivered: charge.delivered ?? (message?.isFailed ? false : null),
    }
  })
  await pipelineCommit(tx, () => upsert(tx, workspaceId, tx`${unnested(rows, chargeColumns)}`).execute())
}

/** What is known of the message of a charge. */
interface ChargeDetails {
  conversationId: string | null
  actorType: string | null
  actorId: string | null
  template: string | null
}

const noDetails: ChargeDetails = { conversationId: null, actorType: null, actorId: null, template: null }

function detailsOf(keyring: Keyring, message: ChargedMessage | undefined): ChargeDetails {
  if (message === undefined) return noDetails
  const { conversationId, actorType, actorId, messageId, content } = message
  const template = messageId === null ? null : templateOf(keyring, messageId, content)
  return { conversationId, actorType, actorId, template }
}

const templateOf = (keyring: Keyring, id: string, content: Buffer | null): string | null =>
  content === null ? null : decryptOrNull(() => decryptTemplateName(keyring, { id, content }))

/** Finds the messages that were sent here. A single part may have its id only in its message. */
function selectMessages(
  tx: Tx,
  workspaceId: string,
  charges: readonly Pick<PricedStatus, 'connectionId' | 'externalIndex'>[],
): Promise<FoundMessage[]> {
  const workspace = opaqueWorkspaceId(tx, workspaceId)
  return tx<FoundMessage[]>`
    select n.external_index as "externalIndex", m.conversation_id as "conversationId", m.actor_type as "actorType",
      m.actor_id as "actorId", coalesce(k.status, m.status) = 'failed' and m.status = 'failed' as "isFailed",
      case when m.kind = 'template' then m.id end as "messageId",
      case when m.kind = 'template' then m.content end as content
    from ${unnested(charges, { uuid: ['connectionId'], bytea: ['externalIndex'] })}
    left join lateral (
      select message_id, status from message_parts
      where workspace_id = ${workspace} and connection_id = n.connection_id and external_index = n.external_index
      offset 0
    ) as k on true
    left join lateral (
      select id from messages
      where k.message_id is null
        and workspace_id = ${workspace} and connection_id = n.connection_id and external_index = n.external_index
      offset 0
    ) as s on true
    cross join lateral (
      select id, conversation_id, actor_type, actor_id, status, kind, content from messages
      where workspace_id = ${workspace} and id = coalesce(k.message_id, s.id) and origin = 'live'
        and direction = 'outbound'
      offset 0
    ) as m`
}

/** Columns about the message of a charge, and about its price. */
const sentColumns = {
  uuid: ['connectionId', 'conversationId', 'actorId'],
  bytea: ['externalIndex'],
  text: ['actorType'],
} as const satisfies Columns<IdentifiedCharge & ChargeDetails>
const priceColumns = {
  text: ['template', 'country', 'type', 'category'],
  boolean: ['isBillable', 'delivered'],
  timestamptz: ['freeUntil', 'chargedAt'],
  integer: ['step'],
} as const satisfies Columns<Charge & ChargeDetails>
const chargeColumns = { ...sentColumns, ...priceColumns, text: [...sentColumns.text, ...priceColumns.text] } as const
const advancedColumns = { uuid: ['messageId'], ...priceColumns } as const

/** `source`: SQL, for `from`, with all columns. */
const upsert = (tx: Tx, workspaceId: string, source: Fragment) => tx`
    insert into message_charges as c (workspace_id, ${columnNames(chargeColumns)})
    select ${workspaceId}::uuid, ${columnNames(chargeColumns)}
    from ${source}
    order by external_index
    ${mergeWithStored}`

const preference = `
  (excluded.step, excluded.type collate "C", excluded.category collate "C", coalesce(excluded.is_billable::text, '') collate "C")
  > (c.step, c.type collate "C", c.category collate "C", coalesce(c.is_billable::text, '') collate "C")`
const preferred = (column: string) => `${column} = case when ${preference} then excluded.${column} else c.${column} end`
const known = (column: string) => `${column} = coalesce(c.${column}, excluded.${column})`

/** The rule of `merge` as SQL. */
const mergeWithStored = constantSql(`
  on conflict (workspace_id, connection_id, external_index) do update
  set ${[
    ...['type', 'category', 'is_billable', 'step'].map(preferred),
    ...['country', 'conversation_id', 'actor_type', 'actor_id', 'template'].map(known),
  ].join()},
    delivered = case when c.delivered or excluded.delivered then true else coalesce(c.delivered, excluded.delivered) end,
    free_until = greatest(c.free_until, excluded.free_until),
    charged_at = least(c.charged_at, excluded.charged_at)
  where ${preference}
    or excluded.charged_at < c.charged_at
    or excluded.free_until > c.free_until
    or (c.free_until is null and excluded.free_until is not null)
    or (excluded.delivered is not null and c.delivered is not true and excluded.delivered is distinct from c.delivered)
    or (c.actor_type is null and excluded.actor_type is not null)
    or (c.country is null and excluded.country is not null)`)

/** A part that was not delivered after all. */
export interface FailedPart {
  connectionId: string
  externalIndex: Buffer
}

/** Stores that the platform does not charge for these parts. A price that arrives later finds the failure itself. */
export async function markUndelivered(tx: Tx, workspaceId: string, parts: readonly FailedPart[]): Promise<void> {
  if (parts.length === 0) return
  const indexes = parts.map((part) => part.externalIndex)
  await Promise.all([
    lockExternalIds(tx, indexes),
    tx`
      update message_charges c
      set delivered = false
      from ${unnested(parts, { uuid: ['connectionId'], bytea: ['externalIndex'] })}
      where c.workspace_id = ${opaqueWorkspaceId(tx, workspaceId)}
        and c.connection_id = n.connection_id
        and c.external_index = n.external_index
        and c.delivered is null`.execute(),
  ])
}

/**
 * Completes the charges of a send that arrived before its ids were stored. Call it in the transaction that settles the
 * send, with the locks of these ids.
 */
export async function completeEarlyCharges(
  { tx, keyring, workspaceId }: WorkspaceTx,
  parts: readonly { connectionId: string; externalIndex: Buffer }[],
): Promise<void> {
  const found = await selectMessages(tx, workspaceId, parts)
  const rows = found.map((message) => ({ ...message, ...detailsOf(keyring, message) }))
  const columns = {
    uuid: ['conversationId', 'actorId'],
    bytea: ['externalIndex'],
    text: ['actorType', 'template'],
  } as const
  await tx`
    update message_charges c
    set conversation_id = n.conversation_id,
      actor_type = n.actor_type,
      actor_id = n.actor_id,
      template = n.template
    from ${unnested(rows, columns)}
    where c.workspace_id = ${opaqueWorkspaceId(tx, workspaceId)}
      and c.connection_id = any (${[...new Set(parts.map(({ connectionId }) => connectionId))]}::uuid[])
      and c.external_index = n.external_index
      and c.conversation_id is null`
}
