import type { Fragment, Sql, Tx } from '../../base/db.ts'
import { publishConnection } from '../../team/live-updates.ts'
import type { ConnectionKey } from '../connection/connection.ts'
import type { JsonObject } from '../waba/json.ts'
import type { TemplateInputs } from './template-inputs.ts'

const columns = (sql: Sql) => sql`
  t.id, t.connection_id as "connectionId", t.name, t.language, t.category, t.status, t.body,
  t.parameter_names as "parameterNames", t.parameter_count as "parameterCount", t.body_only as "bodyOnly", t.header,
  t.inputs`

const reviewColumns = (sql: Sql) => sql`
  t.external_id as "externalId", t.components, t.quality, t.rejected_reason as "rejectedReason",
  t.review_note as "reviewNote", t.edited_at as "editedAt"`

/** Returns a template of a connection, locked until the transaction ends. */
export async function lockTemplate(
  tx: Tx,
  { workspaceId, id: connectionId }: ConnectionKey,
  id: string,
): Promise<ReviewedTemplate | undefined> {
  const [row] = await tx<ReviewedTemplate[]>`
    select ${columns(tx)}, ${reviewColumns(tx)}
    from templates t
    where t.workspace_id = ${workspaceId}
      and t.connection_id = ${connectionId}
      and t.id = ${id}
    for no key update`
  return row
}

/**
 * Returns every template that can be sent – approved, needs only body parameters – by name and language; `withInputs`
 * adds those that need a file or other values. `connectionIds` limits the result; null means all connections of the
 * workspace.
 */
export async function listSendableTemplates(
  sql: Sql,
  workspaceId: string,
  connectionIds: readonly string[] | null,
  withInputs = false,
): Promise<Template[]> {
  return sql<Template[]>`
    select ${columns(sql)}
    from templates t
    where t.workspace_id = ${workspaceId}
      and (${connectionIds}::uuid[] is null or t.connection_id = any (${connectionIds}::uuid[]))
      and t.status = 'APPROVED'
      and (t.body_only or (${withInputs} and (t.header is not null or t.inputs is not null)))
    order by t.name, t.language, t.connection_id`
}

/** Returns all templates of a connection, in every status. */
export async function listTemplates(sql: Sql, { workspaceId, id }: ConnectionKey): Promise<ReviewedTemplate[]> {
  return sql<ReviewedTemplate[]>`
    select ${columns(sql)}, ${reviewColumns(sql)}
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
  templates: readonly StoredTemplate[],
  now: Date,
): Promise<void> {
  const changed = await storeTemplates(tx, { workspaceId, id: connectionId }, templates, now)
  const deleted = await tx`
    delete from templates
    where workspace_id = ${workspaceId}
      and connection_id = ${connectionId}
      and (name, language) not in (
        select t.name, t.language
        from jsonb_to_recordset(${JSON.stringify(templates)}::text::jsonb) as t (name text, language text)
      )`
  if (changed + deleted.count > 0) publishConnection(tx, workspaceId, connectionId)
}

/** Stores templates of a connection; existing ones keep their ids. Returns how many changed. */
export async function storeTemplates(
  tx: Tx,
  { workspaceId, id: connectionId }: ConnectionKey,
  templates: readonly StoredTemplate[],
  now: Date,
): Promise<number> {
  const changed = await tx`
    insert into templates as known (
      workspace_id, connection_id, id, name, language, category, status, body, parameter_names, parameter_count,
      body_only, header, external_id, components, inputs, quality, rejected_reason, synced_at
    )
    select ${workspaceId}::uuid, ${connectionId}::uuid, t.id, t.name, t.language, t.category, t.status, t.body,
      t."parameterNames", t."parameterCount", t."bodyOnly", t.header, t."externalId", t.components, t.inputs,
      t.quality, t."rejectedReason", ${now}::timestamptz
    from jsonb_to_recordset(${JSON.stringify(templates)}::text::jsonb) as t (
      id uuid, name text, language text, category text, status text, body text, "parameterNames" text[],
      "parameterCount" integer, "bodyOnly" boolean, header text, "externalId" text, components jsonb, inputs jsonb,
      quality text, "rejectedReason" text
    )
    on conflict (workspace_id, connection_id, name, language) do update
    set category = excluded.category,
      status = excluded.status,
      body = excluded.body,
      parameter_names = excluded.parameter_names,
      parameter_count = excluded.parameter_count,
      body_only = excluded.body_only,
      header = excluded.header,
      external_id = excluded.external_id,
      components = excluded.components,
      inputs = excluded.inputs,
      quality = excluded.quality,
      rejected_reason = excluded.rejected_reason,
      -- The list of the platform does not have it: it arrives with the webhook, and is of that status.
      review_note = case when known.status = excluded.status then known.review_note end,
      synced_at = excluded.synced_at
    where (
      known.category, known.status, known.body, known.parameter_names, known.parameter_count, known.body_only,
      known.header, known.external_id, known.components, known.inputs, known.quality, known.rejected_reason
    ) is distinct from (
      excluded.category, excluded.status, excluded.body, excluded.parameter_names, excluded.parameter_count,
      excluded.body_only, excluded.header, excluded.external_id, excluded.components, excluded.inputs, excluded.quality,
      excluded.rejected_reason
    )
    returning known.id`
  // Counted from the returned rows: on Citus the update count includes rows that did not change.
  return changed.length
}

/** Counts an edit; forgets those of more than 30 days ago, which no longer count. */
export async function recordEdit(
  tx: Tx,
  { workspaceId, id }: ConnectionKey,
  templateId: string,
  now: Date,
): Promise<void> {
  const since = new Date(now.getTime() - 30 * 86_400_000)
  await tx`
    update templates
    set edited_at = array(select at from unnest(edited_at) as at where at > ${since}::timestamptz) || ${now}::timestamptz
    where workspace_id = ${workspaceId}
      and connection_id = ${id}
      and id = ${templateId}`
}

/** Deletes a template that the platform no longer has. */
export async function removeTemplate(tx: Tx, { workspaceId, id }: ConnectionKey, templateId: string): Promise<void> {
  await tx`
    delete from templates
    where workspace_id = ${workspaceId}
      and connection_id = ${id}
      and id = ${templateId}`
  publishConnection(tx, workspaceId, id)
}

/** Changes the template with this name and language, and publishes it. Returns whether there is one that changed. */
async function updateTemplate(
  tx: Tx,
  { workspaceId, id }: ConnectionKey,
  { name, language }: Pick<PlatformTemplate, 'name' | 'language'>,
  columns: Fragment,
  condition: Fragment = tx`true`,
): Promise<boolean> {
  const changed = await tx`
    update templates
    set ${columns}
    where workspace_id = ${workspaceId}
      and connection_id = ${id}
      and name = ${name}
      and language = ${language}
      and ${condition}
    returning id`
  if (changed.length > 0) publishConnection(tx, workspaceId, id)
  return changed.length > 0
}

/** What the platform has decided about a template. `status` is null for an event that does not change it. */
export interface TemplateReview {
  name: string
  language: string
  status: string | null
  reason: string | null
  note: string | null
}

/** Stores the platform's decision about a template. */
export function setTemplateReview(tx: Tx, one: ConnectionKey, review: TemplateReview): Promise<boolean> {
  const { status, reason, note } = review
  const columns = tx`
      status = coalesce(${status}::text, status),
      rejected_reason = ${reason},
      review_note = ${note}`
  return updateTemplate(tx, one, review, columns)
}

/** Stores how customers react to a template. */
export const setTemplateQuality = (
  tx: Tx,
  one: ConnectionKey,
  template: Pick<ListedTemplate, 'name' | 'language' | 'quality'>,
): Promise<boolean> =>
  updateTemplate(tx, one, template, tx`quality = ${template.quality}`, tx`quality is distinct from ${template.quality}`)

/** Stores the new category of a template. Returns whether it changed. */
export function setTemplateCategory(
  tx: Tx,
  one: ConnectionKey,
  template: Pick<PlatformTemplate, 'name' | 'language' | 'category'>,
  now: Date,
): Promise<boolean> {
  const { category } = template
  return updateTemplate(tx, one, template, tx`category = ${category}, synced_at = ${now}`, tx`category <> ${category}`)
}

/** Returns the reason of the notification about a template's new category: name and category. */
export const categoryReason = ({ name, category }: Pick<PlatformTemplate, 'name' | 'category'>): string =>
  `template_category ${name.slice(0, 100)} ${category.slice(0, 40)}`

/** A template of the platform, in our format. */
export interface PlatformTemplate extends TemplateBody {
  name: string
  language: string
  category: string
  /** Upper case; only `APPROVED` templates can be sent. */
  status: string
  /** False when a send needs more than body parameters: a header, a button variable, a code. */
  bodyOnly: boolean
  /** Type of the header's file that a send must provide; null without one, and if it needs more than a send can have. */
  header: TemplateHeader | null
  /** What else a send must provide; null if nothing, and if it needs more than a send can have. */
  inputs: TemplateInputs | null
}

/** A template as the platform lists it, with what its review has decided. */
export interface ListedTemplate extends PlatformTemplate {
  externalId: string | null
  /** Without sample values; null if unknown or too large. */
  components: JsonObject[] | null
  quality: TemplateQuality | null
  rejectedReason: string | null
}

type StoredTemplate = Omit<PlatformTemplate, 'inputs'> & Partial<ListedTemplate> & { id: string }

export const templateQualities = ['GREEN', 'YELLOW', 'RED'] as const
export type TemplateQuality = (typeof templateQualities)[number]

export const templateHeaders = ['image', 'video', 'document'] as const
export type TemplateHeader = (typeof templateHeaders)[number]

export interface Template extends PlatformTemplate {
  id: string
  connectionId: string
}

export type ReviewedTemplate = Template &
  ListedTemplate & {
    /** The platform's explanation of its status. */
    reviewNote: string | null
    /** Edits of the last 30 days, made here. */
    editedAt: Date[]
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

/** Fills in the parameters of a body. Inserts values unchanged, including braces. */
export function fillBody(body: string, parameters: readonly string[]): string {
  return body.replace(placeholder, (whole, number: string) => parameters[Number(number) - 1] ?? whole)
}

/** Returns the language code with `_`: the platform writes `en-US` in webhooks and `en_US` elsewhere. */
export function normalizeLanguage(code: string): string {
  return code.replaceAll('-', '_')
}
