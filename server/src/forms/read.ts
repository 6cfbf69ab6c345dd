import type { Db } from '../base/db.ts'
import type { Vault } from '../base/vault.ts'
import { findLeadsByIds } from '../leads/queries.ts'
import { openLead } from '../leads/sealed.ts'
import type { Form } from './form.ts'
import { presentForm } from './present.ts'
import { countSubmissions, listSubmissions, type SubmissionRow } from './submissions.ts'

interface ReadDeps {
  db: Db
  vault: Vault
  publicUrl: string
}

/** Forms with how much they were sent. */
export async function presentForms({ db, publicUrl }: ReadDeps, workspaceId: string, forms: readonly Form[]) {
  const ids = forms.map(({ id }) => id)
  const received = await countSubmissions(db.sql, workspaceId, ids)
  return forms.map((form) => presentForm(publicUrl, form, received.get(form.id)))
}

/** A page of submissions with the names of their leads, and where the next one goes on; null at the end. */
export async function readSubmissions(
  { db, vault }: ReadDeps,
  workspaceId: string,
  formId: string,
  { limit, before }: { limit: number; before: string | null },
) {
  const rows = await listSubmissions(db.sql, workspaceId, formId, limit + 1, before)
  const page = rows.slice(0, limit)
  const names = await namesOfLeads({ db, vault }, workspaceId, page)
  const submissions = page.map(({ id, lead_id: leadId, submitted_at: at }) => ({
    id,
    leadId,
    leadName: names.get(leadId) ?? null,
    submittedAt: at.toISOString(),
  }))
  return { submissions, last: rows.length > limit ? (page.at(-1)?.id ?? null) : null }
}

async function namesOfLeads(
  { db, vault }: Pick<ReadDeps, 'db' | 'vault'>,
  workspaceId: string,
  submissions: readonly SubmissionRow[],
): Promise<ReadonlyMap<string, string>> {
  const ids = submissions.map(({ lead_id: id }) => id)
  const rows = await findLeadsByIds(db.sql, workspaceId, ids)
  return vault.withKeyring(workspaceId, (keyring) => {
    const leads = rows.map((row) => openLead(keyring, row))
    return new Map(leads.map(({ id, firstName, lastName }) => [id, [firstName, lastName].filter(Boolean).join(' ')]))
  })
}
