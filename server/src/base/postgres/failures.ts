import { DatabaseError } from 'pg-protocol'

export { DatabaseError }

/** The connection ended before the answer. The request may have been executed, unless it was never sent. */
export class ConnectionLost extends Error {
  readonly code = 'CONNECTION_LOST'
  readonly wasSent: boolean
  /** The connection was closed because the server did not answer for too long. */
  readonly wasSilent: boolean
  /** Process id of the server session that ended. */
  readonly pid: number | null

  constructor(cause?: unknown, { wasSent = true, wasSilent = false, pid = null as number | null } = {}) {
    super('The database connection was lost before the answer arrived', { cause })
    this.wasSent = wasSent
    this.wasSilent = wasSilent
    this.pid = pid
  }
}

/** No connection was available, or not in time. Nothing was executed. */
export class NoConnection extends Error {
  readonly code = 'NO_CONNECTION'

  constructor(cause?: unknown) {
    super('No database connection is available', { cause })
  }
}

/** Returns the SQLSTATE of a database error; '' for other errors. */
export const sqlState = (error: unknown): string => (error instanceof DatabaseError ? (error.code ?? '') : '')

/** Integrity violations. Citus reports those on a shard, while copying rows, as an internal error. */
const integrity = /^(?:23|XX000$)/

/**
 * Returns true if a write violated this constraint or unique index. A coordinator forwards only the message of another
 * server, in any language: then the name is searched in the message.
 */
export function violates(error: unknown, constraint: string): boolean {
  if (!(error instanceof DatabaseError)) return false
  if (error.constraint !== undefined) return isNameOf(error.constraint, constraint)
  return integrity.test(sqlState(error)) && isNamed(error.message, constraint)
}

/** Matches a constraint name, also with the suffix of a Citus shard: `leads_external_ref_key_102345`. */
const isNameOf = (name: string, constraint: string) =>
  name.startsWith(constraint) && /^(?:_\d{6,})?$/.test(name.slice(constraint.length))
const isNamed = (words: string, constraint: string) => words.split(/\W/).some((word) => isNameOf(word, constraint))

/** Returns true if the server no longer accepts writes: it is a standby or shuts down. */
export function isOfServer(error: unknown): boolean {
  if (!(error instanceof DatabaseError)) return false
  // A standby was asked for an unlogged table.
  const isOfRecovery = error.code === '0A000' && error.routine === 'get_relation_info'
  return isOfRecovery || ['25006', '57P02', '57P03'].includes(sqlState(error))
}

// Shutdown, crash, start-up, statement timeout, lock timeout, and conflicts with other transactions or a standby's
// recovery, which remain after several retries.
const passing = new Set(['57P01', '57P02', '57P03', '57P05', '57014', '55P03', '25P03', '40001', '40P01'])
// The connection could not be opened, or ended.
const ofConnection = new Set(['CONNECTION_LOST', 'NO_CONNECTION', 'NO_DATABASE'])

// File errors without a SQLSTATE of their own: a missing write permission (42501) or a file size limit (internal
// error), raised in these source files.
const ofFiles = new Set(['buffile.c', 'fd.c', 'md.c', 'slru.c', 'xlog.c'])
const ofAnyFault = new Set(['42501', 'XX000'])

/** Returns true if the database was unavailable, as opposed to refusing the statement: the caller can retry. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseError) {
    const state = sqlState(error)
    // Class 53: out of connections, memory or disk; class 58: I/O errors. After a PANIC the server restarts.
    const isOfFile = ofAnyFault.has(state) && ofFiles.has(error.file ?? '')
    const isOfKind = passing.has(state) || /^(?:08|53|58)/.test(state) || isOfFile
    return isOfKind || error.severity === 'PANIC' || isOfServer(error)
  }
  return error instanceof Error && 'code' in error && ofConnection.has(String(error.code))
}

/** Returns true if the database's disk is full or failing; reads may still work. */
export const isOutOfDisk = (error: unknown): boolean => /^(?:53100|58030)$/.test(sqlState(error))

/** Returns true if the error ends the session, whatever the statement was. */
export const endsSession = (error: unknown): boolean =>
  error instanceof DatabaseError &&
  (error.severity === 'FATAL' || error.severity === 'PANIC' || sqlState(error).startsWith('57P') || isOfServer(error))

/** Returns true if a prepared statement is outdated or missing. Nothing was executed, and a retry prepares it again. */
export const isStalePlan = (error: unknown): boolean =>
  error instanceof DatabaseError &&
  (error.routine === 'RevalidateCachedQuery' || error.routine === 'FetchPreparedStatement')
