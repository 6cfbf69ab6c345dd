import type { Sql } from '../../base/db.ts'
import { type ApiError, forbidden, notFound, tooManyRequests } from '../../base/errors.ts'
import { type LeadSettings, leadSettingsColumns, pickLeadSettings } from '../../base/lead-settings.ts'
import { type FormDefinition, leadFieldTypes } from './schema.ts'

export interface Form extends FormDefinition {
  workspaceId: string
  id: string
  createdAt: Date
  updatedAt: Date
}

/** A form that is active and belongs to a workspace whose plan includes leads. */
export interface PublicForm extends Form {
  leadSettings: LeadSettings
}

export function isLeadField(key: string): key is keyof typeof leadFieldTypes {
  return Object.hasOwn(leadFieldTypes, key)
}

/** Field of a box to tick; it belongs to the person rather than to the lead. */
export const consentField = 'marketingConsent'

// Neither name can be a field's key, so fields of a form cannot collide with them.
export const tokenField = '_token'
/** Honeypot: hidden from people, filled by bots. */
export const decoyField = 'homepage'

const formColumns = (sql: Sql) => sql`
  f.workspace_id as "workspaceId", f.id, f.slug, f.name, f.title, f.description, f.fields,
  f.submit_label as "submitLabel", f.thank_you as "thankYou", f.redirect_url as "redirectUrl",
  f.allowed_origins as "allowedOrigins", f.source, f.status, f.active, f.created_at as "createdAt",
  f.updated_at as "updatedAt"`

/** Finds the form of a current or former slug. The only statement without a workspace: the slug determines it. */
export async function findPublicForm(sql: Sql, slug: string): Promise<PublicForm | undefined> {
  const [row] = await sql<(Form & LeadSettings)[]>`
    select ${formColumns(sql)}, ${leadSettingsColumns}
    from form_slugs s
    join forms f on f.workspace_id = s.workspace_id and f.id = s.form_id
    join workspaces w on w.id = f.workspace_id
    where s.slug = ${slug}
      and f.active
      and w.leads_enabled`
  return row && { ...row, leadSettings: pickLeadSettings(row) }
}

export async function listForms(sql: Sql, workspaceId: string): Promise<Form[]> {
  return sql<Form[]>`
    select ${formColumns(sql)}
    from forms f
    where f.workspace_id = ${workspaceId}
    order by f.id desc`
}

/** Returns a form; `lock` is SQL after the conditions, such as `for update`. */
export async function findForm(sql: Sql, workspaceId: string, id: string, lock = sql``): Promise<Form | undefined> {
  const [row] = await sql<Form[]>`
    select ${formColumns(sql)}
    from forms f
    where f.workspace_id = ${workspaceId}
      and f.id = ${id}
    ${lock}`
  return row
}

export const formNotFound = (): ApiError => notFound('Form not found')

export const originNotAllowed = (): ApiError =>
  forbidden("This site cannot post to this form. Add its origin to the form's allowedOrigins.")

export const sentTooOften = (retryAfterSeconds: number): ApiError =>
  tooManyRequests(`Sent too often. Please try again in ${retryAfterSeconds} s.`, retryAfterSeconds, {
    code: 'RATE_LIMITED',
  })

/** Returns whether a 429 is for the daily quota rather than for this sender. */
export const isQuotaReached = (error: ApiError): boolean => error.statusCode === 429 && error.data === undefined
