import { isAway, NotYet } from '../../base/db.ts'
import { TooBusy } from '../../base/shares/shares.ts'

/** Whether the database could not be asked, as opposed to having refused: the request may be tried again. */
export const databaseIsAway = (error: unknown): boolean =>
  error instanceof TooBusy || error instanceof NotYet || isAway(error)
