import type { Tx } from '../base/db.ts'
import { type ErasureScope, type ErasureStep, goOn } from '../base/erasure.ts'
import { mentionFinder } from '../base/phone/mention.ts'
import { filterPlace } from './saved-filters.ts'

/** Erases saved filters that look for the customer by phone or e-mail, or are named so. */
export async function eraseFilters(tx: Tx, { workspaceId, keyring, customer }: ErasureScope): Promise<ErasureStep> {
  const mentions = mentionFinder(customer)
  const rows = await tx<{ id: string; content: Buffer }[]>`
    select id, content
    from saved_filters
    where workspace_id = ${workspaceId}`
  const ids = rows.flatMap(({ id, content }) => {
    const { name, query } = JSON.parse(keyring.openText(filterPlace(id), content)) as { name: string; query: string }
    const texts = [name, ...new URLSearchParams(query).values()]
    return texts.some(mentions) ? id : []
  })
  if (ids.length === 0) return goOn({}, false)
  await tx`
    delete from saved_filters
    where workspace_id = ${workspaceId}
      and id = any (${ids}::uuid[])`
  return goOn({ savedFilters: ids.length }, false)
}
