import type { Tx } from '../../base/db.ts'
import { createStep, type ErasureScope, type ErasureStep } from '../../base/erasure.ts'
import { visitorIdOf } from './visitors.ts'

const batchSize = 500

/** Erases the customer's chats on websites, with their sessions and files. Their widgets then begin a new chat. */
export async function eraseFromWebsites(tx: Tx, scope: ErasureScope): Promise<ErasureStep> {
  const { workspaceId, customer } = scope
  const ids = customer.userIds.flatMap((userId) => visitorIdOf(userId) ?? [])
  if (ids.length === 0) return createStep({}, false)
  let count = 0
  const erase = async (table: 'website_messages' | 'website_files' | 'website_sessions') => {
    const erased = await tx`
      delete from ${tx(table)}
      where workspace_id = ${workspaceId}
        and id = any (array(
          select id
          from ${tx(table)}
          where workspace_id = ${workspaceId}
            and visitor_id = any (${ids}::uuid[])
          limit ${batchSize}
        ))`
    count += erased.count
    return erased.count === batchSize
  }
  const more = [await erase('website_sessions'), await erase('website_messages'), await erase('website_files')]
  if (more.includes(true)) return createStep({ sessionRows: count }, true)
  // Last, because all others are found by it.
  const visitors = await tx`
    delete from website_visitors
    where workspace_id = ${workspaceId}
      and id = any (${ids}::uuid[])`
  return createStep({ sessionRows: count + visitors.count }, false)
}
