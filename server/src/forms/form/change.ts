import { randomInt } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import { type Db, type Tx, violates } from '../../base/db.ts'
import { InvalidInput } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import { recordAudit } from '../../team/audit.ts'
import type { Member } from '../../team/member.ts'
import { definitionIssues } from './definition.ts'
import { formNotFound, maxForms, maxSlugs, slugTaken, tooManyForms, tooManySlugs } from './errors.ts'
import type { Form, FormDefinition } from './form.ts'
import { countForms, deleteForm, insertForm, lockForm, updateForm } from './queries.ts'
import type { FormChanges, NewForm } from './schema.ts'

export interface FormDeps {
  db: Db
  clock: Clock
}

/** Makes a form. Refuses a bad definition with 400 and a taken slug with 409. */
export async function createForm(deps: FormDeps, member: Member, input: NewForm): Promise<Form> {
  const now = deps.clock.now()
  const { workspaceId } = member
  const form = draftForm(workspaceId, input, now)
  return whileSlugIsFree(() =>
    deps.db.tx(async (tx) => {
      if ((await countForms(tx, workspaceId)) >= maxForms) throw tooManyForms()
      await claimSlug(tx, workspaceId, form.slug, form.id)
      await insertForm(tx, form)
      await recordAudit(tx, entry(member, 'form.created', form.id), now)
      return form
    }),
  )
}

/** The form that an input would make. Refuses a bad definition with 400. */
export function draftForm(workspaceId: string, input: NewForm, now: Date): Form {
  const definition: FormDefinition = { ...defaults, slug: makeSlug(input.title), ...input }
  return checked({ ...definition, workspaceId, id: newId(now), createdAt: now, updatedAt: now })
}

/** Changes the fields that the input names. Leads that the form has made stay as they are. */
export async function changeForm(deps: FormDeps, member: Member, id: string, input: FormChanges): Promise<Form> {
  const now = deps.clock.now()
  return whileSlugIsFree(() =>
    deps.db.tx(async (tx) => {
      const current = await lockForm(tx, member.workspaceId, id)
      if (current === undefined) throw formNotFound()
      const form = checked({ ...current, ...input, updatedAt: now })
      if (form.slug !== current.slug) await claimSlug(tx, form.workspaceId, form.slug, id)
      await updateForm(tx, form)
      await recordAudit(tx, entry(member, 'form.changed', id), now)
      return form
    }),
  )
}

/** Deletes a form with the record of its submissions; the leads stay. */
export async function removeForm(deps: FormDeps, member: Member, id: string): Promise<void> {
  await deps.db.tx(async (tx) => {
    if (!(await deleteForm(tx, member.workspaceId, id))) throw formNotFound()
    await recordAudit(tx, entry(member, 'form.deleted', id), deps.clock.now())
  })
}

const defaults = {
  description: null,
  submitLabel: 'Send',
  thankYou: 'Thank you! We will be in touch soon.',
  redirectUrl: null,
  allowedOrigins: [],
  source: 'website',
  status: 'new',
  active: true,
} satisfies Partial<FormDefinition>

function checked(form: Form): Form {
  const normal = { ...form, description: form.description || null, redirectUrl: form.redirectUrl || null }
  const issues = definitionIssues(normal)
  if (issues.length > 0) throw new InvalidInput(issues)
  return normal
}

async function whileSlugIsFree<T>(work: () => Promise<T>): Promise<T> {
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

/**
 * Has the address lead to the form, from now on and for good: neither a rename nor a deletion frees it for another
 * workspace. Throws 409 when another has it.
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
  if ((row?.count ?? 0) > maxSlugs) throw tooManySlugs()
}

/** A slug that reads like the title, with enough chance at its end to be free. */
function makeSlug(title: string): string {
  const words = title
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 48)
    .replace(/^-|-$/g, '')
  const chance = randomInt(36 ** 6)
    .toString(36)
    .padStart(6, '0')
  return words === '' ? `form-${chance}` : `${words}-${chance}`
}
