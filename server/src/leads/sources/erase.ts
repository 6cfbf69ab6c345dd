import type { Tx } from '../../base/db.ts'
import { decryptOrNull } from '../../base/encryption/encrypt.ts'
import { createMentionTest, type ErasureScope, type ErasureStep, finishedStep } from '../../base/erasure.ts'
import { parseJson } from '../../channels/waba/json.ts'
import { type Content, decryptRequest, type RequestRow, requestColumns } from './requests.ts'

const batchSize = 200

/**
 * Deletes what lead sources have sent about the customer and is no lead: it failed, or still waits and would recreate the
 * customer. The other requests are deleted with their leads.
 */
export async function eraseSourceRequests(
  tx: Tx,
  { workspaceId, keyring, customer, createdBefore }: ErasureScope,
  place: string | null,
): Promise<ErasureStep> {
  const mentions = createMentionTest(customer)
  const rows = await tx<RequestRow[]>`
    select ${requestColumns(tx)}
    from lead_source_requests r
    where r.workspace_id = ${workspaceId}
      and r.lead_id is null
      and r.received_at <= ${createdBefore}
      ${place === null ? tx`` : tx`and r.id > ${place}::uuid`}
    order by r.id
    limit ${batchSize}
    for update`
  const ids = rows.flatMap((row) => {
    const request = decryptOrNull(() => decryptRequest(keyring, row))
    return request !== null && textsOf(request.content).some(mentions) ? row.id : []
  })
  if (ids.length > 0) {
    await tx`
      delete from lead_source_requests
      where workspace_id = ${workspaceId}
        and id = any (${ids}::uuid[])`
  }
  return rows.length < batchSize ? finishedStep : { removed: {}, position: rows.at(-1)?.id ?? null }
}

/** Returns the texts as people wrote them: bodies have them in encodings. */
function textsOf(content: Content): string[] {
  switch (content.kind) {
    case 'form':
      return [...new URLSearchParams(content.body).values()]
    case 'json':
      return [content.body, JSON.stringify(parseJson(content.body)) ?? '']
    case 'lead_ad':
      return [JSON.stringify(content.lead)]
    default:
      return content satisfies never
  }
}
