import { DatabaseError } from 'pg-protocol'

export { DatabaseError }

/** The connection ended before the answer came. What was asked may have been done, unless it never left. */
export class ConnectionLost extends Error {
  readonly code = 'CONNECTION_LOST'
  readonly wasSent: boolean
  /** It was given up, since the server had said nothing for too long. */
  readonly wasSilent: boolean
  /** By which the server knows the session that ended. */
  readonly pid: number | null

  constructor(cause?: unknown, { wasSent = true, wasSilent = false, pid = null as number | null } = {}) {
    super('The connection to the database ended before its answer came', { cause })
    this.wasSent = wasSent
    this.wasSilent = wasSilent
    this.pid = pid
  }
}

/** There was no connection to be had, or not in time. Nothing was done. */
export class NoConnection extends Error {
  readonly code = 'NO_CONNECTION'

  constructor(cause?: unknown) {
    super('No connection to the database could be had', { cause })
  }
}

/** SQLSTATE of what the database refused; '' when it was not the database. */
export const sqlState = (error: unknown): string => (error instanceof DatabaseError ? (error.code ?? '') : '')

/** The database refused what would break a rule of a table. What Citus hears when it copies rows to a shard, it tells as a fault of its own. */
const integrity = /^(?:23|XX000$)/

/**
 * Whether the database refused a write because of this constraint or unique index. A server that asks others on our behalf tells their
 * words alone, in whatever language: then the name is looked for in them.
 */
export function violates(error: unknown, constraint: string): boolean {
  if (!(error instanceof DatabaseError)) return false
  if (error.constraint !== undefined) return isNameOf(error.constraint, constraint)
  return integrity.test(sqlState(error)) && isNamed(error.message, constraint)
}

/** Citus names the shard whose rule it was: `leads_external_ref_key_102345`. */
const isNameOf = (name: string, constraint: string) =>
  name.startsWith(constraint) && /^(?:_\d{6,})?$/.test(name.slice(constraint.length))
const isNamed = (words: string, constraint: string) => words.split(/\W/).some((word) => isNameOf(word, constraint))

/** The server writes nothing any more: it is another one's standby, or goes down as a whole. */
export function isOfServer(error: unknown): boolean {
  if (!(error instanceof DatabaseError)) return false
  // A standby that is asked for a table which is not written to its log.
  const isOfRecovery = error.code === '0A000' && error.routine === 'get_relation_info'
  return isOfRecovery || ['25006', '57P02', '57P03'].includes(sqlState(error))
}

// Shut down, crashed, starting up, a statement over its time, a lock that others kept; and what was undone since others, or
// the recovery of a standby, went first: again and again, as a transaction is tried anew.
const passing = new Set(['57P01', '57P02', '57P03', '57P05', '57014', '55P03', '25P03', '40001', '40P01'])
// Of a connection that could not be opened, or ended.
const ofConnection = new Set(['CONNECTION_LOST', 'NO_CONNECTION', 'NO_DATABASE'])

// A file that cannot be written has no state of its own where the disk may only be read (a right is missing) or the file may
// grow no further (an inner error). These are the sources that read and write files.
const ofFiles = new Set(['buffile.c', 'fd.c', 'md.c', 'slru.c', 'xlog.c'])
const ofAnyFault = new Set(['42501', 'XX000'])

/** Whether the database could not be asked, as opposed to having refused: what was asked may be tried again. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseError) {
    const state = sqlState(error)
    // Of class 53: no connection, memory or disk left; of 58: files that cannot be read or written. After a panic it starts anew.
    const isOfFile = ofAnyFault.has(state) && ofFiles.has(error.file ?? '')
    const isOfKind = passing.has(state) || /^(?:08|53|58)/.test(state) || isOfFile
    return isOfKind || error.severity === 'PANIC' || isOfServer(error)
  }
  return error instanceof Error && 'code' in error && ofConnection.has(String(error.code))
}

/** The database's disk is full, or fails: it may still be read. */
export const isOutOfDisk = (error: unknown): boolean => /^(?:53100|58030)$/.test(sqlState(error))

/** The session is at its end, whatever the statement was. */
export const endsSession = (error: unknown): boolean =>
  error instanceof DatabaseError &&
  (error.severity === 'FATAL' || error.severity === 'PANIC' || sqlState(error).startsWith('57P') || isOfServer(error))

/**
 * What the session had prepared no longer fits the tables, or is gone. Nothing was done, and the next try prepares it
 * anew.
 */
export const isStalePlan = (error: unknown): boolean =>
  error instanceof DatabaseError &&
  (error.routine === 'RevalidateCachedQuery' || error.routine === 'FetchPreparedStatement')
