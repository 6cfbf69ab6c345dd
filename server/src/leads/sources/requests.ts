import { publish, type Sql, type Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { conflict, notFound, tooManyRequests } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'

/** What was received: the body, or the id of a lead ad's lead, and the lead once it was read. */
export type Content =
  | { kind: 'json'; body: string }
  | { kind: 'form'; body: string }
  | { kind: 'lead_ad'; leadId: string; lead: object | null }

/** What a request was mapped to, or why it became no lead. */
export interface RequestResult {
  action: 'created' | 'updated' | null
  /** Mapped values by field. */
  fields: Record<string, string>
  issues: { path: string; message: string }[]
}

export const requestStatuses = ['waiting', 'done', 'failed'] as const

export interface SourceRequest {
  id: string
  sourceId: string
  status: (typeof requestStatuses)[number]
  content: Content
  result: RequestResult | null
  leadId: string | null
  attempts: number
  receivedAt: Date
}

export type RequestRow = Omit<SourceRequest, 'content' | 'result'> & { content: Buffer; result: Buffer | null }

/** Requests of a workspace that wait, and how many a test page shows. */
const maxWaiting = 10_000
export const maxShown = 20

/** New requests: the id is the workspace. Wakes the worker that makes leads of them. */
export const requestsTopic = 'lead_source_requests'

const placeOf = (id: string, column: 'content' | 'result') => ({ table: 'lead_source_requests', row: id, column })

export const requestColumns = (sql: Sql) => sql`
  r.id, r.source_id as "sourceId", r.status, r.content, r.result, r.lead_id as "leadId", r.attempts,
  r.received_at as "receivedAt"`

export const decryptRequest = (keyring: Keyring, row: RequestRow): SourceRequest => ({
  ...row,
  content: JSON.parse(keyring.decryptText(placeOf(row.id, 'content'), row.content)) as Content,
  result:
    row.result === null
      ? null
      : (JSON.parse(keyring.decryptText(placeOf(row.id, 'result'), row.result)) as RequestResult),
})

/** What was received, and what identifies it for its source; compared as a digest. */
export interface Received {
  identity: string
  content: Content
}

export interface RequestContext {
  tx: Tx
  keyring: Keyring
  workspaceId: string
  now: Date
}

/**
 * Stores what a source has sent, and returns how many were new: what was received before is not processed again. Throws
 * 429 while too many wait.
 */
export async function storeRequests(
  { tx, keyring, workspaceId, now }: RequestContext,
  sourceId: string,
  received: readonly Received[],
): Promise<number> {
  const [waiting] = await tx<{ count: number }[]>`
    select count(*)::integer as count
    from (
      select id
      from lead_source_requests
      where workspace_id = ${workspaceId}
        and next_at is not null
      limit ${maxWaiting}
    ) as w`
  if ((waiting?.count ?? 0) + received.length > maxWaiting)
    throw tooManyRequests('Too many requests wait to become leads. Try again later.', 60, { code: 'RATE_LIMITED' })
  let stored = 0
  for (const { identity, content } of received) {
    const id = newId(now)
    const digest = keyring.stable('leads.source-request', `${sourceId} ${identity}`)
    const sealed = keyring.encrypt(placeOf(id, 'content'), JSON.stringify(content))
    const { count } = await tx`
      insert into lead_source_requests (workspace_id, id, source_id, digest, status, content, received_at, next_at)
      values (${workspaceId}, ${id}, ${sourceId}, ${digest}, 'waiting', ${sealed}, ${now}, ${now})
      on conflict (workspace_id, source_id, digest) do nothing`
    stored += count
  }
  publish(tx, requestsTopic, workspaceId)
  return stored
}

/** Returns the newest requests of a source. */
export async function listRequests(
  sql: Sql,
  keyring: Keyring,
  workspaceId: string,
  sourceId: string,
): Promise<SourceRequest[]> {
  const rows = await sql<RequestRow[]>`
    select ${requestColumns(sql)}
    from lead_source_requests r
    where r.workspace_id = ${workspaceId}
      and r.source_id = ${sourceId}
    order by r.id desc
    limit ${maxShown}`
  return rows.map((row) => decryptRequest(keyring, row))
}

/** Processes a failed request again, such as after a change of the mapping. Throws 404, and 409 if it did not fail. */
export async function retryRequest(
  { tx, workspaceId, now }: RequestContext,
  sourceId: string,
  id: string,
): Promise<void> {
  const [row] = await tx<{ status: string }[]>`
    select status
    from lead_source_requests
    where workspace_id = ${workspaceId}
      and source_id = ${sourceId}
      and id = ${id}
    for update`
  if (row === undefined) throw notFound('Request not found')
  if (row.status !== 'failed') throw conflict('Only a failed request can be processed again')
  await tx`
    update lead_source_requests
    set status = 'waiting',
      attempts = 0,
      next_at = ${now}
    where workspace_id = ${workspaceId}
      and id = ${id}`
  publish(tx, requestsTopic, workspaceId)
}

/** Ends a request, if it still waits: returns false if another process has ended it. */
export async function endRequest(
  { tx, keyring, workspaceId }: Omit<RequestContext, 'now'>,
  { id }: Pick<SourceRequest, 'id'>,
  result: RequestResult,
  leadId: string | null,
): Promise<boolean> {
  const { count } = await tx`
    update lead_source_requests
    set status = ${leadId === null ? 'failed' : 'done'},
      result = ${keyring.encrypt(placeOf(id, 'result'), JSON.stringify(result))},
      lead_id = ${leadId},
      next_at = null
    where workspace_id = ${workspaceId}
      and id = ${id}
      and status = 'waiting'`
  return count === 1
}

/** Tries a request again later; `content` replaces what was received, if more is known now. */
export async function postponeRequest(
  { tx, keyring, workspaceId }: Omit<RequestContext, 'now'>,
  { id }: Pick<SourceRequest, 'id'>,
  { at, content = null, isAttempt }: { at: Date; content?: Content | null; isAttempt: boolean },
): Promise<void> {
  const sealed = content === null ? null : keyring.encrypt(placeOf(id, 'content'), JSON.stringify(content))
  await tx`
    update lead_source_requests
    set next_at = ${at},
      attempts = attempts + ${isAttempt ? 1 : 0},
      content = coalesce(${sealed}::bytea, content)
    where workspace_id = ${workspaceId}
      and id = ${id}
      and status = 'waiting'`
}
