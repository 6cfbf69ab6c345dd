import type { Sql } from '../base/db.ts'
import type { Keyring } from '../base/encryption/keyring.ts'
import { findConsents } from '../consents/store.ts'
import type { Conversation } from '../inbox/conversation/conversation.ts'
import { decryptConversation, phoneIndexes } from '../inbox/conversation/encrypted-conversation.ts'
import { conversationIdsOf, selectConversations } from '../inbox/conversation/queries.ts'
import { decryptLead } from '../leads/lead/encrypted-lead.ts'
import type { Lead } from '../leads/lead/lead.ts'
import { findLeadsByIds } from '../leads/lead/queries.ts'
import type { OpeningHours } from '../team/opening-hours.ts'
import { readServiceSettings } from '../workspaces/service/service-settings.ts'
import type { Run } from './run.ts'
import { type LastMessage, maxFailures, type RunFacts } from './run-rules.ts'
import type { Step } from './sequence-schema.ts'

export interface Reader {
  sql: Sql
  keyring: Keyring
  workspaceId: string
}

/** What a run does, and with what. */
export interface Plan {
  connectionId: string
  steps: Step[]
  endStatuses: string[]
  workspaceName: string
  canSend: boolean
  hours: OpeningHours | null
}

/** Returns what a run does, by the version with which it began. */
export async function readPlan({ sql, workspaceId }: Reader, run: Run): Promise<Plan> {
  const [[found], { hours }] = await Promise.all([
    sql<Omit<Plan, 'hours'>[]>`
      select v.connection_id as "connectionId", v.steps, s.end_statuses as "endStatuses", w.name as "workspaceName",
        w.inbox_enabled and w.inbox_available as "canSend"
      from sequences s
      join sequence_versions v on v.workspace_id = s.workspace_id and v.sequence_id = s.id
      join workspaces w on w.id = s.workspace_id
      where s.workspace_id = ${workspaceId}
        and s.id = ${run.sequenceId}
        and v.version = ${run.version}`,
    readServiceSettings(sql, workspaceId),
  ])
  if (found === undefined) throw new Error('A run has no sequence')
  return { ...found, hours }
}

/** Returns the lead of a run; null if it was deleted. */
export async function readLead({ sql, keyring, workspaceId }: Reader, { leadId }: Run): Promise<Lead | null> {
  const [row] = await findLeadsByIds(sql, workspaceId, [leadId])
  return row === undefined ? null : decryptLead(keyring, row)
}

/** Returns the lead's conversation on the connection; null if there is none. */
export async function findConversationOf(
  { sql, keyring, workspaceId }: Reader,
  connectionId: string,
  phone: string,
): Promise<Conversation | null> {
  const ids = conversationIdsOf(sql, workspaceId, phoneIndexes(keyring, phone), [])
  const rows = await sql<{ id: string }[]>`
    select c.id
    from conversations c
    where c.workspace_id = ${workspaceId}
      and c.connection_id = ${connectionId}
      and c.id in (${ids})
    order by c.created_at, c.id
    limit 1`
  const [row] = rows.length === 0 ? [] : await selectConversations(sql, workspaceId, [rows[0]?.id ?? ''])
  return row === undefined ? null : decryptConversation(keyring, row)
}

/** Returns what decides whether a run goes on, given its conversation. */
export async function readFacts(
  reader: Reader,
  run: Run,
  { endStatuses }: Pick<Plan, 'endStatuses'>,
  lead: Lead | null,
  conversation: Conversation | null,
): Promise<RunFacts> {
  const { sql, keyring, workspaceId } = reader
  const phone = lead?.phone ?? conversation?.contact.phone ?? null
  const customer = { phone, userId: conversation?.contact.userId ?? null }
  const isKnown = customer.phone !== null || customer.userId !== null
  const [consents, hasPersonWritten, last] = await Promise.all([
    isKnown ? findConsents(sql, keyring, workspaceId, [customer]) : [],
    conversation === null ? false : hasWritten(sql, workspaceId, conversation.id, run),
    readLastMessages(sql, workspaceId, run),
  ])
  const [decisions] = consents
  const isOptedOut =
    [decisions?.marketing, decisions?.utility].some((one) => one?.decision === 'opted_out') ||
    // From before there were records.
    (decisions?.marketing == null && conversation?.contact.marketing?.isStopped === true)
  return { lead, endStatuses, conversation, isOptedOut, hasPersonWritten, last }
}

/** Returns the last messages of a run, newest first, as many as its rules look at. */
function readLastMessages(sql: Sql, workspaceId: string, { id }: Run): Promise<LastMessage[]> {
  return sql<LastMessage[]>`
    select state = 'failed' as "isFailed", code, created_at as at
    from sequence_run_steps
    where workspace_id = ${workspaceId}
      and run_id = ${id}
      and state in ('sent', 'failed')
    order by step desc
    limit ${maxFailures}`
}

/** Whether a person, or someone on the number's own phone, has written since the run began. */
async function hasWritten(
  sql: Sql,
  workspaceId: string,
  conversationId: string,
  { id, createdAt }: Run,
): Promise<boolean> {
  const rows = await sql`
    select id
    from messages
    where workspace_id = ${workspaceId}
      and conversation_id = ${conversationId}
      and occurred_at >= ${createdAt}
      and id > ${id}
      and direction = 'outbound'
      and ((origin = 'live' and actor_type in ('user', 'token')) or origin = 'echo')
    limit 1`
  return rows.length > 0
}
