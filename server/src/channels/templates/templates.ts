import type { Sql, Tx } from '../../base/db.ts'
import { announceConnection } from '../../team/team-news.ts'
import type { Template, TemplateHeader } from './template.ts'
import { normalLanguage } from './template-body.ts'

interface TemplateRow {
  id: string
  connection_id: string
  name: string
  language: string
  category: string
  status: string
  body: string
  parameter_names: string[] | null
  parameter_count: number
  body_only: boolean
  header: TemplateHeader | null
}

const columns = (sql: Sql) => sql`
  t.id,
  t.connection_id,
  t.name,
  t.language,
  t.category,
  t.status,
  t.body,
  t.parameter_names,
  t.parameter_count,
  t.body_only,
  t.header`

/**
 * Every template that can be sent, approved and with body parameters alone, by name and language.
 * `connectionIds` narrows it; null is every connection of the workspace.
 */
export async function listSendableTemplates(
  sql: Sql,
  workspaceId: string,
  connectionIds: readonly string[] | null,
  withFiles = false,
): Promise<Template[]> {
  const rows = await sql<TemplateRow[]>`
    select ${columns(sql)}
    from templates t
    where t.workspace_id = ${workspaceId}
      and (${connectionIds}::uuid[] is null or t.connection_id = any (${connectionIds}::uuid[]))
      and t.status = 'APPROVED'
      and (t.body_only or (${withFiles} and t.header is not null))
    order by t.name, t.language, t.connection_id`
  return rows.map(templateOf)
}

/** All that a connection has, in every status. */
export async function listTemplates(sql: Sql, workspaceId: string, connectionId: string): Promise<Template[]> {
  const rows = await sql<TemplateRow[]>`
    select ${columns(sql)}
    from templates t
    where t.workspace_id = ${workspaceId}
      and t.connection_id = ${connectionId}
    order by t.name, t.language`
  return rows.map(templateOf)
}

/** The one that a send names, in any status. The language may be written `en-US` or `en_US`. */
export async function findTemplate(
  sql: Sql,
  workspaceId: string,
  connectionId: string,
  name: string,
  language: string,
): Promise<Template | undefined> {
  const [row] = await sql<TemplateRow[]>`
    select ${columns(sql)}
    from templates t
    where t.workspace_id = ${workspaceId}
      and t.connection_id = ${connectionId}
      and t.name = ${name}
      and t.language = ${normalLanguage(language)}`
  return row && templateOf(row)
}

/**
 * Makes the stored templates of a connection these ones: known ones keep their ids, those that are gone go. Open pages are
 * told when that changed something.
 */
export async function replaceTemplates(
  tx: Tx,
  workspaceId: string,
  connectionId: string,
  templates: readonly Omit<Template, 'connectionId'>[],
  now: Date,
): Promise<void> {
  const changed = await tx`
    insert into templates as known (
      workspace_id, connection_id, id, name, language, category, status, body, parameter_names, parameter_count,
      body_only, header, synced_at
    )
    select ${workspaceId}::uuid, ${connectionId}::uuid, t.id, t.name, t.language, t.category, t.status, t.body,
      t."parameterNames", t."parameterCount", t."bodyOnly", t.header, ${now}::timestamptz
    from jsonb_to_recordset(${JSON.stringify(templates)}::text::jsonb) as t (
      id uuid, name text, language text, category text, status text, body text, "parameterNames" text[],
      "parameterCount" integer, "bodyOnly" boolean, header text
    )
    on conflict (workspace_id, connection_id, name, language) do update
    set category = excluded.category,
      status = excluded.status,
      body = excluded.body,
      parameter_names = excluded.parameter_names,
      parameter_count = excluded.parameter_count,
      body_only = excluded.body_only,
      header = excluded.header,
      synced_at = excluded.synced_at
    where (
      known.category, known.status, known.body, known.parameter_names, known.parameter_count, known.body_only, known.header
    ) is distinct from (
      excluded.category, excluded.status, excluded.body, excluded.parameter_names, excluded.parameter_count,
      excluded.body_only, excluded.header
    )
    returning known.id`
  const gone = await tx`
    delete from templates
    where workspace_id = ${workspaceId}
      and connection_id = ${connectionId}
      and (name, language) not in (
        select t.name, t.language
        from jsonb_to_recordset(${JSON.stringify(templates)}::text::jsonb) as t (name text, language text)
      )`
  // Not counted by the database, which counts all that it was given where tables are spread.
  if (changed.length + gone.count > 0) announceConnection(tx, workspaceId, connectionId)
}

/** Notes whether the connection's account has an endpoint of its own for marketing templates. */
export async function noteMarketing(
  tx: Tx,
  workspaceId: string,
  connectionId: string,
  sendsMarketing: boolean,
): Promise<void> {
  await tx`
    update connections
    set sends_marketing = ${sendsMarketing}
    where workspace_id = ${workspaceId}
      and id = ${connectionId}
      and sends_marketing <> ${sendsMarketing}`
}

function templateOf(row: TemplateRow): Template {
  return {
    id: row.id,
    connectionId: row.connection_id,
    name: row.name,
    language: row.language,
    category: row.category,
    status: row.status,
    body: row.body,
    parameterNames: row.parameter_names,
    parameterCount: row.parameter_count,
    bodyOnly: row.body_only,
    header: row.header,
  }
}
