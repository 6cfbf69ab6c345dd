import { DatabaseError } from 'pg-protocol'

export { DatabaseError }

/** The connection ended before the answer came. What was asked may have been done. */
export class ConnectionLost extends Error {
  readonly code = 'CONNECTION_LOST'

  constructor(cause?: unknown) {
    super('The connection to the database ended before its answer came', { cause })
  }
}

/** There was no connection to be had in time. Nothing was done. */
export class NoConnection extends Error {
  readonly code = 'NO_CONNECTION'

  constructor(cause?: unknown) {
    super('No connection to the database could be had in time', { cause })
  }
}

/** SQLSTATE of what the database refused; '' when it was not the database. */
export const sqlState = (error: unknown): string => (error instanceof DatabaseError ? (error.code ?? '') : '')

/** The server writes no more here: it is another one's standby now, or goes down as a whole. */
export const isOfServer = (error: unknown): boolean => ['25006', '57P02', '57P03'].includes(sqlState(error))

/** The session is at its end, whatever the statement was. */
export const endsSession = (error: unknown): boolean =>
  error instanceof DatabaseError && (error.severity === 'FATAL' || error.severity === 'PANIC' || isOfServer(error))

/**
 * What the session had prepared no longer fits the tables, or is gone. Nothing was done, and the next try prepares it
 * anew.
 */
export const isStalePlan = (error: unknown): boolean =>
  error instanceof DatabaseError &&
  (error.routine === 'RevalidateCachedQuery' || error.routine === 'FetchPreparedStatement')
