import type { Sql, Tx } from '../../base/db.ts'
import { decryptOrNull } from '../../base/encryption/encrypt.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { limitText } from '../../channels/untrusted-values.ts'
import { hiddenWorkspaceId } from '../lead/queries.ts'

export const touchChannels = ['form', 'website', 'click_to_chat', 'lead_ad', 'webhook'] as const
export type TouchChannel = (typeof touchChannels)[number]

/** What is known about a campaign; names as in UTM parameters, and the click ids of ads. */
export const touchFields = [
  ...(['source', 'medium', 'campaign', 'content', 'term'] as const),
  ...(['fbclid', 'gclid', 'ctwaClid', 'adId', 'adName', 'adSet', 'formId', 'url'] as const),
] as const
export type TouchField = (typeof touchFields)[number]

export const maxTouchText = 512

/** How a lead came once. */
export interface Touch extends Partial<Record<TouchField, string>> {
  channel: TouchChannel
  at: Date
}

/** The first and the last time that a lead came; the same if it came once. */
export interface Attribution {
  first: Touch
  last: Touch
}

/** Returns a touch with the fields that have a value, each within its limit: strangers may write anything. */
export function createTouch(channel: TouchChannel, at: Date, values: Partial<Record<TouchField, unknown>>): Touch {
  const touch: Touch = { channel, at }
  for (const field of touchFields) {
    const text = limitText(values[field], maxTouchText)
    if (text !== null) touch[field] = text
  }
  return touch
}

export const utmFields = ['source', 'medium', 'campaign', 'content', 'term'] as const

/** Click ids that the platforms of ads append to addresses. */
export const clickIds = ['fbclid', 'gclid'] as const

/** Returns the fields in the parameters of an address; forms carry the UTM ones with a prefix. */
export function fieldsOfParameters(
  parameters: Readonly<Record<string, unknown>>,
): Partial<Record<TouchField, unknown>> {
  const utm = utmFields.map((field) => [field, parameters[`utm_${field}`] ?? parameters[`k_utm_${field}`]])
  return Object.fromEntries([...utm, ...clickIds.map((name) => [name, parameters[name]])])
}

/** Returns the fields in the address of a page, which is kept without its parameters: they may name people. */
export function fieldsOfUrl(text: unknown): Partial<Record<TouchField, unknown>> {
  const url = typeof text === 'string' && text.length <= 4096 ? URL.parse(text) : null
  if (url === null || !/^https?:$/.test(url.protocol)) return {}
  return { ...fieldsOfParameters(Object.fromEntries(url.searchParams)), url: `${url.origin}${url.pathname}` }
}

const placeOf = (leadId: string, column: 'first_touch' | 'last_touch') => ({
  table: 'lead_attributions',
  row: leadId,
  column,
})

/** Keeps a touch of a lead in the transaction of its cause: the earliest as the first, the latest as the last. */
export async function recordTouch(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  leadId: string,
  { at, ...touch }: Touch,
): Promise<void> {
  const encrypt = (column: 'first_touch' | 'last_touch') =>
    keyring.encrypt(placeOf(leadId, column), JSON.stringify(touch))
  await tx`
    insert into lead_attributions as a (workspace_id, lead_id, first_touch, last_touch, first_at, last_at)
    values (${workspaceId}, ${leadId}, ${encrypt('first_touch')}, ${encrypt('last_touch')}, ${at}, ${at})
    on conflict (workspace_id, lead_id) do update
    set first_touch = case when excluded.first_at < a.first_at then excluded.first_touch else a.first_touch end,
      first_at = least(excluded.first_at, a.first_at),
      last_touch = case when excluded.last_at >= a.last_at then excluded.last_touch else a.last_touch end,
      last_at = greatest(excluded.last_at, a.last_at)`
}

interface AttributionRow {
  /** Of which it tells: the lead that others were merged into. */
  keptId: string
  leadId: string
  firstTouch: Buffer
  lastTouch: Buffer
  firstAt: Date
  lastAt: Date
}

/** Returns how a lead came, with the leads that were merged into it; null if nothing is known. */
export async function findAttribution(
  sql: Sql,
  keyring: Keyring,
  workspaceId: string,
  leadId: string,
): Promise<Attribution | null> {
  const rows = await selectAttributions(sql, workspaceId, [leadId])
  return rows.length === 0 ? null : attributionOf(keyring, rows)
}

/**
 * Returns the name of the campaign that first brought each of the leads that one did: that of its parameters, or of the
 * ad. A value that was altered hides it.
 */
export async function readFirstCampaigns(
  sql: Sql,
  keyring: Keyring,
  workspaceId: string,
  leadIds: readonly string[],
): Promise<Map<string, string>> {
  const rows = leadIds.length === 0 ? [] : await selectAttributions(sql, workspaceId, leadIds)
  const found = [...Map.groupBy(rows, ({ keptId }) => keptId)].flatMap(([id, own]): [string, string][] => {
    const first = decryptOrNull(() => attributionOf(keyring, own))?.first
    const name = first?.campaign ?? first?.adName
    return name === undefined ? [] : [[id, name]]
  })
  return new Map(found)
}

function selectAttributions(sql: Sql, workspaceId: string, leadIds: readonly string[]) {
  const workspace = hiddenWorkspaceId(sql, workspaceId)
  return sql<AttributionRow[]>`
    with recursive merged (kept_id, id) as (
      select n.id, n.id
      from unnest(${[...leadIds]}::uuid[]) as n (id)
      union
      select merged.kept_id, m.merged_id
      from merged
      join lead_merges m
        on m.workspace_id = ${workspace}
        and m.kept_id = merged.id
        and m.undone_at is null
    )
    select m.kept_id as "keptId", a.lead_id as "leadId", a.first_touch as "firstTouch", a.last_touch as "lastTouch",
      a.first_at as "firstAt", a.last_at as "lastAt"
    from merged m
    join lead_attributions a on a.workspace_id = ${workspace} and a.lead_id = m.id`
}

/** The earliest and the latest touch of a lead and of those that were merged into it: at least one row. */
function attributionOf(keyring: Keyring, rows: readonly AttributionRow[]): Attribution {
  const read = (id: string, column: 'first_touch' | 'last_touch', bytes: Buffer, at: Date): Touch => ({
    ...(JSON.parse(keyring.decryptText(placeOf(id, column), bytes)) as Omit<Touch, 'at'>),
    at,
  })
  const { leadId, firstTouch, firstAt } = rows.reduce((a, b) => (b.firstAt < a.firstAt ? b : a))
  const last = rows.reduce((a, b) => (b.lastAt >= a.lastAt ? b : a))
  return {
    first: read(leadId, 'first_touch', firstTouch, firstAt),
    last: read(last.leadId, 'last_touch', last.lastTouch, last.lastAt),
  }
}
