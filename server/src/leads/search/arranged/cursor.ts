import { createHash } from 'node:crypto'
import { decodeCursor, encodeCursor } from '../../../base/cursor.ts'
import { badRequest } from '../../../base/errors.ts'
import { isUuid } from '../../../base/id.ts'
import type { Keyring } from '../../../base/sealing/keyring.ts'
import { filterDigest, type LeadFilter } from '../list-filter.ts'
import type { Arrangement, Place, PlaceKey } from './order.ts'

/** A place in a walk through an arranged list, with the total that its first page counted. */
export interface ArrangedCursor {
  after: Place
  total: number
  countedAt: Date
}

/** What the list is sorted by may be a name: it is sealed. */
export function writeArrangedCursor(
  keyring: Keyring,
  arrangement: Arrangement,
  filter: LeadFilter,
  { after, total, countedAt }: ArrangedCursor,
): string {
  const key = after.key === null ? '' : typeof after.key === 'number' ? `n${after.key}` : `t${after.key}`
  const sealed = keyring.seal(placeOf(after.id), key).toString('base64url')
  return encodeCursor([listOf(arrangement, filter), sealed, after.id, total, countedAt.getTime()])
}

/** Reads a cursor of this very order and filter; any other is malformed. */
export function readArrangedCursor(
  keyring: Keyring,
  text: string,
  arrangement: Arrangement,
  filter: LeadFilter,
): ArrangedCursor {
  const [list, sealed, id, total, countedAt, extra] = decodeCursor(text) ?? []
  if (list !== listOf(arrangement, filter) || extra !== undefined) throw malformed()
  if (typeof sealed !== 'string' || typeof id !== 'string' || !isUuid(id)) throw malformed()
  if (!Number.isSafeInteger(total) || !Number.isSafeInteger(countedAt)) throw malformed()
  return {
    after: { key: openKey(keyring, id, sealed), id },
    total: Number(total),
    countedAt: new Date(Number(countedAt)),
  }
}

// Statuses and people may be given another order meanwhile, which the places that were reached know nothing of.
const listOf = ({ by, order, language, choices }: Arrangement, filter: LeadFilter): string => {
  const digest = createHash('sha256').update(JSON.stringify(choices)).digest('base64url').slice(0, 12)
  return `${by} ${order} ${language} ${filterDigest(filter)} ${digest}`
}

function openKey(keyring: Keyring, id: string, sealed: string): PlaceKey {
  try {
    const key = keyring.openText(placeOf(id), Buffer.from(sealed, 'base64url'))
    if (key === '') return null
    return key.startsWith('n') ? Number(key.slice(1)) : key.slice(1)
  } catch (cause) {
    throw Object.assign(malformed(), { cause })
  }
}

const placeOf = (id: string) => ({ table: 'leads', row: id, column: 'cursor' })
const malformed = () => badRequest('Invalid cursor format')
