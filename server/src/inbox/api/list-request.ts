import { InvalidInput, type Issue } from '../../base/errors.ts'
import { isUuid } from '../../base/id.ts'
import { readIsoTime } from '../../base/time.ts'
import { readOwner } from '../conversation/owner.ts'
import type { ListRequest } from '../read/list.ts'
import { type ConversationFilter, noFilter } from '../read/list-filter.ts'
import type { ListQuery } from './schema.ts'

// No row has it: what is no id of a connection finds nothing rather than being refused.
const nowhere = '00000000-0000-0000-0000-000000000000'

/** Reads the query of a list; throws `InvalidInput` for an owner or a time that is none. */
export function readListRequest(query: ListQuery): ListRequest {
  const issues: Issue[] = []
  const { connection_id: connectionId, updated_after: updatedAfter } = query
  const filter: ConversationFilter = {
    ...noFilter,
    connectionId: connectionId === undefined ? null : isUuid(connectionId) ? connectionId.toLowerCase() : nowhere,
    phone: query.phone ?? null,
    owner: query.owner === undefined ? null : readOwnerFilter(query.owner, issues),
    statuses: query.status === undefined ? null : [query.status],
    updatedAfter: updatedAfter === undefined ? null : readTime('updated_after', updatedAfter, issues),
  }
  if (issues.length > 0) throw new InvalidInput(issues, 'query')
  return { filter, order: 'updated', limit: query.limit ?? 30, cursor: query.cursor ?? null }
}

export function readOwnerFilter(text: string, issues: Issue[]): ConversationFilter['owner'] {
  if (text === 'agent') return 'agent'
  const owner = readOwner(text)
  if (owner !== null) return owner.type === 'human' ? 'human' : { keyId: owner.keyId }
  issues.push({ path: 'owner', message: 'must be human, agent or agent:<api_key_id>' })
  return null
}

export function readTime(path: string, text: string, issues: Issue[]): Date | null {
  const time = readIsoTime(text)
  if (time === null) issues.push({ path, message: 'must be an ISO 8601 date or date-time that exists' })
  return time
}
