import type { Sql, Tx } from '../../base/db.ts'
import { type ApiError, conflict, forbidden, notFound, tooManyRequests } from '../../base/errors.ts'
import type { LeadSettings, LeadSettingsRow } from '../../base/lead-settings.ts'
import { leadSettingsColumns, readLeadSettings } from '../../base/lead-settings.ts'
import { type FormDefinition, leadFieldTypes } from './schema.ts'

/** What the team decides about a form, and where it stands. */
export interface Form extends FormDefinition {
  workspaceId: string
  id: string
  createdAt: Date
  updatedAt: Date
}

/** A form as the public meets it: active, in a workspace whose plan has leads. */
export interface PublicForm extends Form {
  leadSettings: LeadSettings
}

export function isLeadField(key: string): key is keyof typeof leadFieldTypes {
  return Object.hasOwn(leadFieldTypes, key)
}

// Neither can be a field's key, so no team's field can collide with them.
export const tokenField = '_token'
/** Hidden from people: only programs that fill whatever they find fill it. */
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

/**
 * The form that stands at the address, be it one that it had before. The only statement that cannot begin with the
 * workspace: the public knows a slug, and the slug tells it.
 */
export async function findPublicForm(sql: Sql, slug: string): Promise<PublicForm | undefined> {
  const [row] = await sql<(Form & LeadSettingsRow)[]>`
    select ${formColumns(sql)}, ${leadSettingsColumns(sql)}
    from form_slugs s
    join forms f on f.workspace_id = s.workspace_id and f.id = s.form_id
    join workspaces w on w.id = f.workspace_id
    where s.slug = ${slug}
      and f.active
      and w.leads_enabled`
  return row && { ...row, leadSettings: readLeadSettings(row) }
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

/** The form for changing it: nobody else changes it until this transaction ends. */
export async function lockForm(tx: Tx, workspaceId: string, id: string): Promise<Form | undefined> {
  const [row] = await tx<Form[]>`
    select ${formColumns(tx)}
    from forms f
    where f.workspace_id = ${workspaceId}
      and f.id = ${id}
    for update`
  return row
}

/** Keeps two forms of one workspace from being made at once, so that they can be counted. */
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

/** Forms that one workspace can have. */
export const maxForms = 200

export const formNotFound = (): ApiError => notFound('Form not found')

export const slugTaken = (cause?: unknown): ApiError =>
  conflict('Form with this slug already exists', { field: 'slug' }, cause)

/** Addresses that the forms of one workspace ever had: they are its own for good. */
export const maxSlugs = 1_000

export const tooManySlugs = (): ApiError =>
  conflict(`A workspace's forms have at most ${maxSlugs} addresses over time. Take one of those that they had.`, {
    field: 'slug',
  })

export const tooManyForms = (): ApiError =>
  conflict(`A workspace has at most ${maxForms} forms. Delete one that is not used.`)

export const originNotAllowed = (): ApiError =>
  forbidden("This site may not post to this form. Add its origin to the form's allowedOrigins.")

export const sentTooOften = (retryAfterSeconds: number): ApiError =>
  tooManyRequests(`Sent too often from one place. Please try again in ${retryAfterSeconds} s.`, retryAfterSeconds, {
    code: 'RATE_LIMITED',
  })

/** Whether a 429 is for the day's quota rather than for this sender. */
export const isQuotaReached = (error: ApiError): boolean => error.statusCode === 429 && error.data === undefined
