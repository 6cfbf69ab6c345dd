import { NotYet } from '../base/db.ts'
import { TooBusy } from '../base/shares.ts'

const driverCodes = new Set(['CONNECTION_CLOSED', 'CONNECTION_ENDED', 'CONNECTION_DESTROYED', 'CONNECT_TIMEOUT'])
const systemCodes = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENOTFOUND'])
// Shut down, crashed, starting up, too many connections, a statement over its time, a lock that others kept, a standby
// that takes no writes.
const serverCodes = new Set(['57P01', '57P02', '57P03', '53300', '57014', '55P03', '25006'])

/** Whether the database could not be asked, as opposed to having refused: the request may be tried again. */
export function databaseIsAway(error: unknown): boolean {
  if (error instanceof TooBusy || error instanceof NotYet) return true
  if (!(error instanceof Error)) return false
  const { code, syscall } = error as NodeJS.ErrnoException
  if (code === undefined) return false
  if (driverCodes.has(code) || serverCodes.has(code) || /^08\w{3}$/.test(code)) return true
  // A Unix socket that is not there; any other missing file is a fault.
  return systemCodes.has(code) || (code === 'ENOENT' && syscall === 'connect')
}
