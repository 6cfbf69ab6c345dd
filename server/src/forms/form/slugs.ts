import { randomInt } from 'node:crypto'
import type { Tx } from '../../base/db.ts'
import { maxSlugs, slugTaken, tooManySlugs } from './errors.ts'

/**
 * Has the address lead to the form, from now on and for good: neither a rename nor a deletion frees it for another
 * workspace. Throws 409 when another has it.
 */
export async function claimSlug(tx: Tx, workspaceId: string, slug: string, formId: string): Promise<void> {
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
export function makeSlug(title: string): string {
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
