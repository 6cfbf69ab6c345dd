import { objectOf, textOf } from '../../waba/json.ts'
import { readJid } from './jid.ts'

/** What a socket says of itself. Only what it said is there. */
export interface SocketUpdate {
  /** To be shown as a QR code until the next one comes. */
  qr?: string
  state?: 'connecting' | 'open' | 'closed'
  /** With `closed`: what `afterClose` judges by. */
  code?: number | null
  /** The code was scanned: a close that asks for a restart follows. */
  isNewLogin?: boolean
  /** The digits of the phone that shares its number with us, from `me` beside the state. */
  phone?: string | null
}

const states: ReadonlyMap<unknown, SocketUpdate['state']> = new Map<string, SocketUpdate['state']>([
  ['connecting', 'connecting'],
  ['open', 'open'],
  ['close', 'closed'],
])

/** The data of `connection.update`, to which the transport adds `me` when the number is known; null when it says nothing. */
export function readUpdate(data: unknown): SocketUpdate | null {
  const { connection, qr, isNewLogin, lastDisconnect, me } = objectOf(data)
  const update: SocketUpdate = {}
  const code = textOf(qr)
  if (code !== null) update.qr = code
  const state = states.get(connection)
  if (state !== undefined) update.state = state
  if (state === 'closed') update.code = codeOf(lastDisconnect)
  if (isNewLogin === true) update.isNewLogin = true
  if (me !== undefined && me !== null) update.phone = phoneOf(me)
  return Object.keys(update).length === 0 ? null : update
}

function codeOf(lastDisconnect: unknown): number | null {
  const { output, statusCode } = objectOf(objectOf(lastDisconnect).error)
  const code = objectOf(output).statusCode ?? statusCode
  return typeof code === 'number' && Number.isSafeInteger(code) ? code : null
}

function phoneOf(me: unknown): string | null {
  const { id, phoneNumber } = objectOf(me)
  return readJid(id)?.phone ?? readJid(phoneNumber)?.phone ?? null
}
