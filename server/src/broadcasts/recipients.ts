import type { Sql } from '../base/db.ts'
import { decryptLead } from '../leads/lead/encrypted-lead.ts'
import type { Lead } from '../leads/lead/lead.ts'
import { findLeadsByIds } from '../leads/lead/queries.ts'
import { csvLine } from '../leads/transfer/file/cells.ts'
import type { Broadcast, BroadcastDeps } from './broadcast.ts'
import type { recipientStatuses } from './broadcast-schema.ts'

export type RecipientStatus = (typeof recipientStatuses)[number]

export interface RecipientRow {
  id: string
  leadId: string
  variant: number
  status: RecipientStatus
  reason: string | null
  conversationId: string | null
  sentAt: Date | null
  answeredAt: Date | null
  optedOutAt: Date | null
  cost: string | null
}

/** Returns a page of the recipients of a frozen audience, with the leads that are still there. */
export async function listRecipients(
  { sends }: BroadcastDeps,
  { workspaceId, id }: Broadcast,
  { status = null, after, limit }: { status?: RecipientStatus | null; after: string | null; limit: number },
): Promise<(RecipientRow & { lead: Lead | null })[]> {
  const { sql } = sends.db
  const rows = await selectPage(sql, workspaceId, id, { status, after, limit })
  const leads = await findLeadsByIds(
    sql,
    workspaceId,
    rows.map(({ leadId }) => leadId),
  )
  return sends.keyStore.withKeyring(workspaceId, async (keyring) => {
    const byId = new Map(leads.map((row) => [row.id, decryptLead(keyring, row)]))
    return rows.map((row) => ({ ...row, lead: byId.get(row.leadId) ?? null }))
  })
}

const selectPage = (
  sql: Sql,
  workspaceId: string,
  id: string,
  { status, after, limit }: { status: RecipientStatus | null; after: string | null; limit: number },
): Promise<RecipientRow[]> => sql<RecipientRow[]>`
  select id, lead_id as "leadId", variant, status, reason, conversation_id as "conversationId", sent_at as "sentAt",
    answered_at as "answeredAt", opted_out_at as "optedOutAt", trim_scale(cost)::text as cost
  from broadcast_recipients
  where workspace_id = ${workspaceId}
    and broadcast_id = ${id}
    ${status === null ? sql`` : sql`and status = ${status}`}
    ${after === null ? sql`` : sql`and id > ${after}`}
  order by id
  limit ${limit}`

export const nameOf = (lead: Lead | null): string | null =>
  lead === null ? null : [lead.firstName, lead.lastName ?? ''].join(' ').trim()

const exportColumns = [
  'lead_id',
  'name',
  'phone',
  'variant',
  'template',
  'status',
  'reason',
  'sent_at',
  'answered_at',
  'opted_out_at',
  'cost',
  'currency',
]
const exportPage = 500

/** Returns the lines of a CSV file with every recipient. */
export async function* exportRecipients(deps: BroadcastDeps, broadcast: Broadcast): AsyncGenerator<string> {
  yield `\uFEFF${csvLine(exportColumns, ',')}`
  for (let after: string | null = null; ; ) {
    const rows: Awaited<ReturnType<typeof listRecipients>> = await listRecipients(deps, broadcast, {
      after,
      limit: exportPage,
    })
    yield rows.map((row) => csvLine(cellsOf(broadcast, row), ',')).join('')
    after = rows.at(-1)?.id ?? null
    if (rows.length < exportPage) return
  }
}

function cellsOf({ variants, results }: Broadcast, row: RecipientRow & { lead: Lead | null }): string[] {
  const { lead, variant, status, reason, sentAt, answeredAt, optedOutAt, cost } = row
  return [
    ...[row.leadId, nameOf(lead) ?? '', lead?.phone == null ? '' : `+${lead.phone}`, String(variant + 1)],
    ...[variants[variant]?.template.name ?? '', status, reason ?? ''],
    ...[sentAt, answeredAt, optedOutAt].map((time) => time?.toISOString() ?? ''),
    ...[cost ?? '', cost === null ? '' : (results?.currency ?? '')],
  ]
}
