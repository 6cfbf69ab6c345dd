import type { Sql, Tx } from '../../base/db.ts'
import { type ApiError, conflict, forbidden, notFound, tooManyRequests } from '../../base/errors.ts'
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
  f.workspace_id as "workspaceId",
  f.id,
  f.slug,
  f.name,
  f.title,
  f.description,
  f.fields,
  f.submit_label as "submitLabel",
  f.thank_you as "thankYou",
  f.redirect_url as "redirectUrl",
  f.allowed_origins as "allowedOrigins",
  f.source,
  f.status,
  f.active,
  f.created_at as "createdAt",
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

export async function findForm(sql: Sql, workspaceId: string, id: string): Promise<Form | undefined> {
  const [row] = await sql<Form[]>`
    select ${formColumns(sql)}
    from forms f
    where f.workspace_id = ${workspaceId}
      and f.id = ${id}`
  return row
}

/** Returns the form and locks it until the transaction ends. */
export async function lockForm(tx: Tx, workspaceId: string, id: string): Promise<Form | undefined> {
  const [row] = await tx<Form[]>`
    select ${formColumns(tx)}
    from forms f
    where f.workspace_id = ${workspaceId}
      and f.id = ${id}
    for update`
  return row
}

/** Counts forms under a lock that prevents concurrent creation. */
export async function countForms(tx: Tx, workspaceId: string): Promise<number> {
  await tx`
    select 1
    from workspaces
    where id = ${workspaceId}
    for no key update`
  const [row] = await tx<{ count: number }[]>`
    select count(*)::integer as count
    from forms
    where workspace_id = ${workspaceId}`
  return row?.count ?? 0
}

export async function insertForm(tx: Tx, form: Form): Promise<void> {
  await tx`
    insert into forms (
      workspace_id, id, slug, name, title, description, fields, submit_label, thank_you, redirect_url,
      allowed_origins, source, status, active, created_at, updated_at
    )
    values (
      ${form.workspaceId}, ${form.id}, ${form.slug}, ${form.name}, ${form.title}, ${form.description},
      ${JSON.stringify(form.fields)}::text::jsonb, ${form.submitLabel}, ${form.thankYou}, ${form.redirectUrl},
      ${form.allowedOrigins}::text[], ${form.source}, ${form.status}, ${form.active}, ${form.createdAt},
      ${form.updatedAt}
    )`
}

export async function updateForm(tx: Tx, form: Form): Promise<void> {
  await tx`
    update forms
    set slug = ${form.slug},
      name = ${form.name},
      title = ${form.title},
      description = ${form.description},
      fields = ${JSON.stringify(form.fields)}::text::jsonb,
      submit_label = ${form.submitLabel},
      thank_you = ${form.thankYou},
      redirect_url = ${form.redirectUrl},
      allowed_origins = ${form.allowedOrigins}::text[],
      source = ${form.source},
      status = ${form.status},
      active = ${form.active},
      updated_at = ${form.updatedAt}
    where workspace_id = ${form.workspaceId}
      and id = ${form.id}`
}

export async function deleteForm(tx: Tx, workspaceId: string, id: string): Promise<boolean> {
  const { count } = await tx`
    delete from forms
    where workspace_id = ${workspaceId}
      and id = ${id}`
  return count > 0
}

/** Maximum number of forms of a workspace. */
export const maxForms = 200

export const formNotFound = (): ApiError => notFound('Form not found')

export const slugTaken = (cause?: unknown): ApiError =>
  conflict('Form with this slug already exists', { field: 'slug' }, cause)

/** Maximum number of slugs that the forms of a workspace have ever had. They are reserved permanently. */
export const maxSlugs = 1_000

export const tooManySlugs = (): ApiError =>
  conflict(`A workspace's forms can have at most ${maxSlugs} addresses over time. Use a former one.`, {
    field: 'slug',
  })

export const tooManyForms = (): ApiError => conflict(`A workspace has at most ${maxForms} forms. Delete an unused one.`)

export const originNotAllowed = (): ApiError =>
  forbidden("This site cannot post to this form. Add its origin to the form's allowedOrigins.")

export const sentTooOften = (retryAfterSeconds: number): ApiError =>
  tooManyRequests(`Sent too often. Please try again in ${retryAfterSeconds} s.`, retryAfterSeconds, {
    code: 'RATE_LIMITED',
  })

/** Returns whether a 429 is for the daily quota rather than for this sender. */
export const isQuotaReached = (error: ApiError): boolean => error.statusCode === 429 && error.data === undefined
