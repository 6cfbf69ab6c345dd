import type { ErrorObject } from 'ajv'
import type { FastifySchemaValidationError } from 'fastify'
import { decodeCursor, encodeCursor } from '../../base/cursor.ts'
import { type ApiError, badRequest } from '../../base/errors.ts'
import { isUuid } from '../../base/id.ts'
import { invalidInput } from '../../base/validation.ts'
import { filterDigest, type LeadFilter, type LeadSort, type SortPosition } from './list-filter.ts'

/** A place in a walk through a list, with the total that its first page counted. */
export interface ListCursor {
  after: SortPosition
  total: number
  countedAt: Date
}

/** How long the pages of one walk may repeat the total of its first. */
export const totalLastsMs = 60_000

export function writeListCursor(sort: LeadSort, filter: LeadFilter, cursor: ListCursor): string {
  const { after, total, countedAt } = cursor
  return encodeCursor([
    sort.by,
    sort.order,
    filterDigest(filter),
    after.time.getTime(),
    after.id,
    total,
    countedAt.getTime(),
  ])
}

/** Reads a cursor of this very sort and filter; any other is malformed. */
export function readListCursor(text: string, sort: LeadSort, filter: LeadFilter): ListCursor {
  const [by, order, digest, time, id, total, countedAt, extra] = decodeCursor(text) ?? []
  if (by !== sort.by || order !== sort.order || digest !== filterDigest(filter) || extra !== undefined)
    throw malformed()
  if (!isTime(time) || typeof id !== 'string' || !isUuid(id)) throw malformed()
  if (!isCount(total) || !isTime(countedAt)) throw malformed()
  return { after: { time: new Date(time), id }, total, countedAt: new Date(countedAt) }
}

/**
 * What a query that does not fit its schema is refused with: a cursor that is too long is malformed as any other. For
 * `schemaErrorFormatter`.
 */
export function refuseList(errors: FastifySchemaValidationError[], part: string): ApiError {
  if (errors.some(({ instancePath }) => instancePath === '/cursor')) return malformed()
  return invalidInput(errors as ErrorObject[], part === 'querystring' ? 'query' : 'params')
}

const malformed = (): ApiError => badRequest('Invalid cursor format')

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

// What PostgreSQL and Date both can hold.
function isTime(value: unknown): value is number {
  return isCount(value) && value <= 253_402_300_799_999
}
