import { randomInt } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import { type Db, type Tx, violates } from '../../base/db.ts'
import { type ApiError, conflict, InvalidInput, type Issue } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import { choicesProblem } from '../../leads/fields/lead-fields.ts'
import { type CustomFieldType, keyProblem, maxCustomFields } from '../../leads/lead/custom-fields.ts'
import { recordAudit } from '../../team/audit.ts'
import type { Member } from '../../team/member.ts'
import { consentField, decoyField, type Form, findForm, formNotFound, isLeadField } from './form.ts'
import { type FormChanges, type FormDefinition, type FormField, leadFieldTypes, type NewForm } from './schema.ts'

export interface FormDeps {
  db: Db
  clock: Clock
}

const maxForms = 200

/** Creates a form. Throws 400 for an invalid definition and 409 for a taken slug. */
export async function createForm(deps: FormDeps, member: Member, input: NewForm): Promise<Form> {
  const now = deps.clock.now()
  const { workspaceId } = member
  const form = draftForm(workspaceId, input, now)
  return withSlugCheck(() =>
    deps.db.tx(async (tx) => {
      if ((await countForms(tx, workspaceId)) >= maxForms)
        throw conflict(`A workspace has at most ${maxForms} forms. Delete an unused one.`)
      await claimSlug(tx, workspaceId, form.slug, form.id)
      await insertForm(tx, form)
      await recordAudit(tx, entry(member, 'form.created', form.id), now)
      return form
    }),
  )
}

/** Returns the form that the input describes. Throws 400 for an invalid definition. */
export function draftForm(workspaceId: string, input: NewForm, now: Date): Form {
  const definition: FormDefinition = { ...defaults, slug: generateSlug(input.title), ...input }
  return validateForm({ ...definition, workspaceId, id: newId(now), createdAt: now, updatedAt: now })
}

/** Changes the fields in the input. Leads that the form has created do not change. */
export async function changeForm(deps: FormDeps, member: Member, id: string, input: FormChanges): Promise<Form> {
  const now = deps.clock.now()
  return withSlugCheck(() =>
    deps.db.tx(async (tx) => {
      const current = await findForm(tx, member.workspaceId, id, tx`for update`)
      if (current === undefined) throw formNotFound()
      const form = validateForm({ ...current, ...input, updatedAt: now })
      if (form.slug !== current.slug) await claimSlug(tx, form.workspaceId, form.slug, id)
      await updateForm(tx, form)
      await recordAudit(tx, entry(member, 'form.changed', id), now)
      return form
    }),
  )
}

/** Deletes a form and the records of its submissions, but not the leads. */
export async function removeForm(deps: FormDeps, member: Member, id: string): Promise<void> {
  await deps.db.tx(async (tx) => {
    const deleted = await tx`
      delete from forms
      where workspace_id = ${member.workspaceId}
        and id = ${id}`
    if (deleted.count === 0) throw formNotFound()
    await recordAudit(tx, entry(member, 'form.deleted', id), deps.clock.now())
  })
}

/** Counts forms under a lock that prevents concurrent creation. */
async function countForms(tx: Tx, workspaceId: string): Promise<number> {
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

async function insertForm(tx: Tx, form: Form): Promise<void> {
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

async function updateForm(tx: Tx, form: Form): Promise<void> {
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

const defaults = {
  description: null,
  submitLabel: 'Send',
  thankYou: 'Thank you! We’ll be in touch soon.',
  redirectUrl: null,
  allowedOrigins: [],
  source: 'website',
  status: 'new',
  active: true,
} satisfies Partial<FormDefinition>

function validateForm(form: Form): Form {
  const normal = { ...form, description: form.description || null, redirectUrl: form.redirectUrl || null }
  const issues = definitionIssues(normal)
  if (issues.length > 0) throw new InvalidInput(issues)
  return normal
}

async function withSlugCheck<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (violates(error, 'forms_slug_key')) throw slugTaken(error)
    throw error
  }
}

function entry(member: Member, action: string, formId: string) {
  return { scopeId: member.workspaceId, actor: member.actor, action, target: `form:${formId}` }
}

const slugTaken = (cause?: unknown): ApiError =>
  conflict('Form with this slug already exists', { field: 'slug' }, cause)

/** Maximum number of slugs that the forms of a workspace have ever had. They are reserved permanently. */
const maxSlugs = 1_000

/**
 * Assigns the slug to the form permanently: neither a rename nor a deletion frees it for another workspace. Throws 409
 * if another workspace has it.
 */
async function claimSlug(tx: Tx, workspaceId: string, slug: string, formId: string): Promise<void> {
  const claimed = await tx`
    insert into form_slugs as s (workspace_id, slug, form_id)
    values (${workspaceId}, ${slug}, ${formId})
    on conflict (slug) do update
    set form_id = excluded.form_id
    where s.workspace_id = excluded.workspace_id
    returning 1`
  if (claimed.length === 0) throw slugTaken()
  const [row] = await tx<{ count: number }[]>`
    select count(*)::integer as count
    from form_slugs
    where workspace_id = ${workspaceId}`
  if ((row?.count ?? 0) <= maxSlugs) return
  const message = `A workspace's forms can have at most ${maxSlugs} addresses over time. Use a former one.`
  throw conflict(message, { field: 'slug' })
}

/** Derives a slug from the title, with a random suffix so that it is likely to be free. */
function generateSlug(title: string): string {
  const words = title
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 48)
    .replace(/^-|-$/g, '')
  const suffix = randomInt(36 ** 6)
    .toString(36)
    .padStart(6, '0')
  return words === '' ? `form-${suffix}` : `${words}-${suffix}`
}

/** Checks the rules of a definition that the schema cannot express. */
export function definitionIssues(form: FormDefinition): Issue[] {
  return [...fieldsIssues(form.fields), ...redirectIssues(form.redirectUrl), ...originsIssues(form.allowedOrigins)]
}

function fieldsIssues(fields: readonly FormField[]): Issue[] {
  const issues = fields.flatMap((field, index) => fieldIssues(field, `fields[${index}]`))
  const repeated = fields.findIndex((field, index) => fields.findIndex(({ key }) => key === field.key) < index)
  if (repeated >= 0) issues.push({ path: `fields[${repeated}].key`, message: 'is given more than once' })
  if (!fields.some((field) => field.key === 'firstName' && field.required)) {
    issues.push({ path: 'fields', message: 'must have a required firstName, which every lead needs' })
  }
  const consent = fields.findIndex(({ key }) => key === consentField)
  if (consent >= 0 && !fields.some(({ key }) => key === 'phone')) {
    issues.push({ path: `fields[${consent}].key`, message: 'needs a phone field, to which the consent applies' })
  }
  if (fields.filter((field) => !isLeadField(field.key)).length > maxCustomFields) {
    issues.push({ path: 'fields', message: `must have at most ${maxCustomFields} custom fields` })
  }
  return issues
}

function fieldIssues(field: FormField, at: string): Issue[] {
  const problems: [part: string, problem: string | null][] = [
    ['key', isLeadField(field.key) ? null : customKeyProblem(field.key)],
    ['type', typeProblem(field)],
    ['label', field.label.trim() === '' ? 'must not be empty' : null],
    ['options', choicesProblem({ type: field.type, choices: field.options ?? [] }, String)],
  ]
  return problems.flatMap(([part, message]) => (message === null ? [] : [{ path: `${at}.${part}`, message }]))
}

// The lead has fields of its own under these names, which a custom field would shadow.
const reserved = ['first_name', 'last_name', 'email', 'phone', 'notes', 'marketing_consent', decoyField]

function customKeyProblem(key: string): string | null {
  if (reserved.includes(key))
    return 'is reserved: use another key, or one of firstName, lastName, email, phone, notes, marketingConsent'
  if (/^(k|utm)_/.test(key)) return 'must not start with k_ or utm_, which are reserved for URL parameters'
  return keyProblem(key)
}

function typeProblem({ key, type }: FormField): string | null {
  if (!isLeadField(key)) return null
  const types: readonly CustomFieldType[] = leadFieldTypes[key]
  return types.includes(type) ? null : `must be ${types.join(' or ')} for ${key}`
}

function redirectIssues(url: string | null): Issue[] {
  const fits = url === null || (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol))
  return fits ? [] : [{ path: 'redirectUrl', message: 'must be an http or https address' }]
}

function originsIssues(origins: readonly string[]): Issue[] {
  return origins.flatMap((origin, index) =>
    isOrigin(origin)
      ? []
      : [{ path: `allowedOrigins[${index}]`, message: 'must be an origin such as https://example.com, or *' }],
  )
}

function isOrigin(text: string): boolean {
  return text === '*' || (/^https?:\/\//.test(text) && URL.canParse(text) && new URL(text).origin === text)
}
