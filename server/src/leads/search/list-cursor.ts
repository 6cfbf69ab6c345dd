import { createHash } from 'node:crypto'
import type { ErrorObject } from 'ajv'
import type { FastifySchemaValidationError } from 'fastify'
import { decodeCursor, encodeCursor } from '../../base/cursor.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { type ApiError, badRequest } from '../../base/errors.ts'
import { isUuid } from '../../base/id.ts'
import { invalidInput } from '../../base/validation.ts'
import { filterDigest, isTimeOrder, type LeadFilter } from './list-filter.ts'
import type { Place, SortKey, SortOrder } from './sorted/order.ts'

/** Position in a list, with the total counted on the first page. */
interface ListCursor {
  after: Place
  total: number
  countedAt: Date
}

/** Returns true if the cursor needs no encryption: lists sorted by time without conditions. */
const isPlaintext = (sortOrder: SortOrder, filter: LeadFilter): boolean =>
  isTimeOrder(sortOrder) && filter.conditions === undefined

export function writeListCursor(
  keyring: Keyring,
  sortOrder: SortOrder,
  filter: LeadFilter,
  { after, total, countedAt }: ListCursor,
): string {
  const { by, order } = sortOrder
  const place = isPlaintext(sortOrder, filter)
    ? [by, order, filterDigest(filter), after.key, after.id]
    : [listKey(sortOrder, filter), encryptKey(keyring, after), after.id]
  return encodeCursor([...place, total, countedAt.getTime()])
}

/** Parses a cursor for this order and filter. Throws 400 for any other. */
export function parseListCursor(keyring: Keyring, text: string, sortOrder: SortOrder, filter: LeadFilter): ListCursor {
  const { by, order } = sortOrder
  const plaintext = isPlaintext(sortOrder, filter)
  const list = plaintext ? [by, order, filterDigest(filter)] : [listKey(sortOrder, filter)]
  const parts = decodeCursor(text) ?? []
  const [key, id, total, countedAt, extra] = parts.slice(list.length)
  if (list.some((part, n) => part !== parts[n]) || extra !== undefined) throw malformedCursor()
  if (typeof id !== 'string' || !isUuid(id) || !isCount(total) || !isTime(countedAt)) throw malformedCursor()
  if (!plaintext) return { after: { key: decryptKey(keyring, id, key), id }, total, countedAt: new Date(countedAt) }
  if (!isTime(key)) throw malformedCursor()
  return { after: { key, id }, total, countedAt: new Date(countedAt) }
}

// Includes the choices: if statuses or members are reordered, the positions of older cursors are invalid.
const listKey = ({ by, order, language, choices }: SortOrder, filter: LeadFilter): string => {
  const digest = createHash('sha256').update(JSON.stringify(choices)).digest('base64url').slice(0, 12)
  return `${by} ${order} ${language} ${filterDigest(filter)} ${digest}`
}

const cursorContext = (id: string) => ({ table: 'leads', row: id, column: 'cursor' })

/** Encrypts the sort key, which may be a name. */
function encryptKey(keyring: Keyring, { key, id }: Place): string {
  const text = key === null ? '' : typeof key === 'number' ? `n${key}` : `t${key}`
  return keyring.encrypt(cursorContext(id), text).toString('base64url')
}

function decryptKey(keyring: Keyring, id: string, ciphertext: unknown): SortKey {
  try {
    const key = keyring.decryptText(cursorContext(id), Buffer.from(String(ciphertext), 'base64url'))
    if (key === '') return null
    return key.startsWith('n') ? Number(key.slice(1)) : key.slice(1)
  } catch (cause) {
    throw Object.assign(malformedCursor(), { cause })
  }
}

/**
 * Returns the error for a query that violates its schema: a cursor that is too long is malformed like any other. For
 * `schemaErrorFormatter`.
 */
export function listQueryError(errors: FastifySchemaValidationError[], part: string): ApiError {
  if (errors.some(({ instancePath }) => instancePath === '/cursor')) return malformedCursor()
  return invalidInput(errors as ErrorObject[], part === 'querystring' ? 'query' : 'params')
}

export const malformedCursor = (): ApiError => badRequest('Invalid cursor format')

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

// Times that both PostgreSQL and Date support.
export const isTime = (value: unknown): value is number => isCount(value) && value <= 253_402_300_799_999
