import type { Sql, Tx } from '../../base/db.ts'
import { type LeadSettingsRow, leadSettingsColumns, readLeadSettings } from '../../base/lead-settings.ts'
import type { Source } from '../../leads/lead/lead.ts'
import type { Form, FormField, PublicForm } from './form.ts'

interface FormRow {
  workspace_id: string
  id: string
  slug: string
  name: string
  title: string
  description: string | null
  fields: FormField[]
  submit_label: string
  thank_you: string
  redirect_url: string | null
  allowed_origins: string[]
  source: string
  status: string
  active: boolean
  created_at: Date
  updated_at: Date
}

const formColumns = (sql: Sql) => sql`
  f.workspace_id,
  f.id,
  f.slug,
  f.name,
  f.title,
  f.description,
  f.fields,
  f.submit_label,
  f.thank_you,
  f.redirect_url,
  f.allowed_origins,
  f.source,
  f.status,
  f.active,
  f.created_at,
  f.updated_at`

/**
 * The form that stands at the address, be it one that it had before. The only statement that cannot begin with the
 * workspace: the public knows a slug, and the slug tells it.
 */
export async function findPublicForm(sql: Sql, slug: string): Promise<PublicForm | undefined> {
  const [row] = await sql<(FormRow & LeadSettingsRow)[]>`
    select ${formColumns(sql)}, ${leadSettingsColumns(sql)}
    from form_slugs s
    join forms f on f.workspace_id = s.workspace_id and f.id = s.form_id
    join workspaces w on w.id = f.workspace_id
    where s.slug = ${slug}
      and f.active
      and w.leads_enabled`
  return row && { ...formOf(row), leadSettings: readLeadSettings(row) }
}

export async function listForms(sql: Sql, workspaceId: string): Promise<Form[]> {
  const rows = await sql<FormRow[]>`
    select ${formColumns(sql)}
    from forms f
    where f.workspace_id = ${workspaceId}
    order by f.id desc`
  return rows.map(formOf)
}

export async function findForm(sql: Sql, workspaceId: string, id: string): Promise<Form | undefined> {
  const [row] = await sql<FormRow[]>`
    select ${formColumns(sql)}
    from forms f
    where f.workspace_id = ${workspaceId}
      and f.id = ${id}`
  return row && formOf(row)
}

/** The form for changing it: nobody else changes it until this transaction ends. */
export async function lockForm(tx: Tx, workspaceId: string, id: string): Promise<Form | undefined> {
  const [row] = await tx<FormRow[]>`
    select ${formColumns(tx)}
    from forms f
    where f.workspace_id = ${workspaceId}
      and f.id = ${id}
    for update`
  return row && formOf(row)
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

function formOf(row: FormRow): Form {
  return {
    workspaceId: row.workspace_id,
    id: row.id,
    slug: row.slug,
    name: row.name,
    title: row.title,
    description: row.description,
    fields: row.fields,
    submitLabel: row.submit_label,
    thankYou: row.thank_you,
    redirectUrl: row.redirect_url,
    allowedOrigins: row.allowed_origins,
    // Written by us alone, under a schema that knows these values.
    source: row.source as Source,
    status: row.status,
    active: row.active,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
