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
  if (error.constraint !== undefined) return matchesName(error.constraint, constraint)
  return integrity.test(sqlState(error)) && mentionsName(error.message, constraint)
}

/** Matches a constraint name, also with the suffix of a Citus shard: `leads_external_ref_key_102345`. */
const matchesName = (name: string, constraint: string) =>
  name.startsWith(constraint) && /^(?:_\d{6,})?$/.test(name.slice(constraint.length))
const mentionsName = (text: string, constraint: string) =>
  text.split(/\W/).some((word) => matchesName(word, constraint))

/** Returns true if the server no longer accepts writes: it is a standby or shuts down. */
export function isServerDown(error: unknown): boolean {
  if (!(error instanceof DatabaseError)) return false
  // A standby was asked for an unlogged table.
  const isFromRecovery = error.code === '0A000' && error.routine === 'get_relation_info'
  return isFromRecovery || ['25006', '57P02', '57P03'].includes(sqlState(error))
}

// Shutdown, crash, start-up, statement timeout, lock timeout, and conflicts with other transactions or a standby's
// recovery, which remain after several retries.
const transientStates = new Set(['57P01', '57P02', '57P03', '57P05', '57014', '55P03', '25P03', '40001', '40P01'])
// The connection could not be opened, or ended.
const connectionCodes = new Set(['CONNECTION_LOST', 'NO_CONNECTION', 'NO_DATABASE'])

// File errors without a SQLSTATE of their own: a missing write permission (42501) or a file size limit (internal
// error), raised in these source files.
const fileSources = new Set(['buffile.c', 'fd.c', 'md.c', 'slru.c', 'xlog.c'])
const fileErrorStates = new Set(['42501', 'XX000'])

/** Returns true if the database was unavailable, as opposed to refusing the statement: the caller can retry. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseError) {
    const state = sqlState(error)
    // Class 53: out of connections, memory or disk; class 58: I/O errors. After a PANIC the server restarts.
    const isFileError = fileErrorStates.has(state) && fileSources.has(error.file ?? '')
    const isTransient = transientStates.has(state) || /^(?:08|53|58)/.test(state) || isFileError
    return isTransient || error.severity === 'PANIC' || isServerDown(error)
  }
  return error instanceof Error && 'code' in error && connectionCodes.has(String(error.code))
}

/** Returns true if the database's disk is full or failing; reads may still work. */
export const isOutOfDisk = (error: unknown): boolean => /^(?:53100|58030)$/.test(sqlState(error))

/** Returns true if the error ends the session, whatever the statement was. */
export const endsSession = (error: unknown): boolean =>
  error instanceof DatabaseError &&
  (error.severity === 'FATAL' || error.severity === 'PANIC' || sqlState(error).startsWith('57P') || isServerDown(error))

/** Returns true if a prepared statement is outdated or missing. Nothing was executed, and a retry prepares it again. */
export const isStalePlan = (error: unknown): boolean =>
  error instanceof DatabaseError &&
  (error.routine === 'RevalidateCachedQuery' || error.routine === 'FetchPreparedStatement')
