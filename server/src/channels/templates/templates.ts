import type { Sql, Tx } from '../../base/db.ts'
import { publishConnection } from '../../team/live-updates.ts'
import type { ConnectionKey } from '../connection/connection.ts'

const columns = (sql: Sql) => sql`
  t.id, t.connection_id as "connectionId", t.name, t.language, t.category, t.status, t.body,
  t.parameter_names as "parameterNames", t.parameter_count as "parameterCount", t.body_only as "bodyOnly", t.header`

/**
 * Returns every template that can be sent – approved, needs only body parameters – by name and language.
 * `connectionIds` limits the result; null means all connections of the workspace.
 */
export async function listSendableTemplates(
  sql: Sql,
  workspaceId: string,
  connectionIds: readonly string[] | null,
  withFiles = false,
): Promise<Template[]> {
  return sql<Template[]>`
    select ${columns(sql)}
    from templates t
    where t.workspace_id = ${workspaceId}
      and (${connectionIds}::uuid[] is null or t.connection_id = any (${connectionIds}::uuid[]))
      and t.status = 'APPROVED'
      and (t.body_only or (${withFiles} and t.header is not null))
    order by t.name, t.language, t.connection_id`
}

/** Returns all templates of a connection, in every status. */
export async function listTemplates(sql: Sql, { workspaceId, id }: ConnectionKey): Promise<Template[]> {
  return sql<Template[]>`
    select ${columns(sql)}
    from templates t
    where t.workspace_id = ${workspaceId}
      and t.connection_id = ${id}
    order by t.name, t.language`
}

/** Returns the template that a send names, in any status. `language` may be written `en-US` or `en_US`. */
export async function findTemplate(
  sql: Sql,
  workspaceId: string,
  connectionId: string,
  name: string,
  language: string,
): Promise<Template | undefined> {
  const [row] = await sql<Template[]>`
    select ${columns(sql)}
    from templates t
    where t.workspace_id = ${workspaceId}
      and t.connection_id = ${connectionId}
      and t.name = ${name}
      and t.language = ${normalizeLanguage(language)}`
  return row
}

/**
 * Replaces the stored templates of a connection. Existing templates keep their ids; missing ones are deleted. Publishes
 * a live update when anything changed.
 */
export async function replaceTemplates(
  tx: Tx,
  { workspaceId, id: connectionId }: ConnectionKey,
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
  const deleted = await tx`
    delete from templates
    where workspace_id = ${workspaceId}
      and connection_id = ${connectionId}
      and (name, language) not in (
        select t.name, t.language
        from jsonb_to_recordset(${JSON.stringify(templates)}::text::jsonb) as t (name text, language text)
      )`
  // Counted from the returned rows: on Citus the update count includes rows that did not change.
  if (changed.length + deleted.count > 0) publishConnection(tx, workspaceId, connectionId)
}

/** Stores the new category of a template. Returns whether it changed. */
export async function setTemplateCategory(
  tx: Tx,
  { workspaceId, id }: ConnectionKey,
  { name, language, category }: Pick<PlatformTemplate, 'name' | 'language' | 'category'>,
  now: Date,
): Promise<boolean> {
  const changed = await tx`
    update templates
    set category = ${category},
      synced_at = ${now}
    where workspace_id = ${workspaceId}
      and connection_id = ${id}
      and name = ${name}
      and language = ${language}
      and category <> ${category}
    returning id`
  if (changed.length > 0) publishConnection(tx, workspaceId, id)
  return changed.length > 0
}

/** Returns the reason of the notification about a template's new category: name and category. */
export const categoryReason = ({ name, category }: Pick<PlatformTemplate, 'name' | 'category'>): string =>
  `template_category ${name.slice(0, 100)} ${category.slice(0, 40)}`

/** Stores whether the connection's account has a separate endpoint for marketing templates. */
export async function setSendsMarketing(
  tx: Tx,
  { workspaceId, id }: ConnectionKey,
  sendsMarketing: boolean,
): Promise<void> {
  await tx`
    update connections
    set sends_marketing = ${sendsMarketing}
    where workspace_id = ${workspaceId}
      and id = ${id}
      and sends_marketing <> ${sendsMarketing}`
}

/** A template of the platform, in our format. */
export interface PlatformTemplate extends TemplateBody {
  name: string
  language: string
  category: string
  /** Upper case; only `APPROVED` templates can be sent. */
  status: string
  /** False when a send needs more than body parameters: a media header, a button variable, a code. */
  bodyOnly: boolean
  /** Type of the header file, when a send needs only that file and body parameters. */
  header: TemplateHeader | null
}

export const templateHeaders = ['image', 'video', 'document'] as const
export type TemplateHeader = (typeof templateHeaders)[number]

export interface Template extends PlatformTemplate {
  id: string
  connectionId: string
}

/** A body with `{{1}}`, `{{2}}`, … and the mapping of its parameters to the platform's names. */
interface TemplateBody {
  body: string
  parameterCount: number
  /** The platform's parameter names, in our order; null when the platform takes parameters by position. */
  parameterNames: string[] | null
}

const placeholder = /\{\{\s*(\w+)\s*\}\}/g

/**
 * Rewrites a body of the platform. Numbers named parameters by first appearance and positional ones by their number; a
 * repeated placeholder is one parameter. Ignores spaces inside the braces.
 */
export function parseBody(text: string, isNamed: boolean): TemplateBody {
  const found = [...new Set([...text.matchAll(placeholder)].map((match) => match[1] ?? ''))]
  const named = isNamed || found.some((name) => !/^\d+$/.test(name))
  const order = named ? found : found.sort((a, b) => Number(a) - Number(b))
  return {
    body: text.replace(placeholder, (_, name: string) => `{{${order.indexOf(name) + 1}}}`),
    parameterCount: order.length,
    parameterNames: named && order.length > 0 ? order : null,
  }
}

export function hasPlaceholder(text: string): boolean {
  return text.search(placeholder) >= 0
}

/** Fills in the parameters of a body. Inserts values unchanged, including braces. */
export function fillBody(body: string, parameters: readonly string[]): string {
  return body.replace(placeholder, (whole, number: string) => parameters[Number(number) - 1] ?? whole)
}

/** Returns the language code with `_`: the platform writes `en-US` in webhooks and `en_US` elsewhere. */
export function normalizeLanguage(code: string): string {
  return code.replaceAll('-', '_')
}
