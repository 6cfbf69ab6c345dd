import type { Pairing, Session } from './session.ts'

const firstQrMs = 60_000
const laterQrMs = 20_000

/** How long the network takes a QR code, the first of a series or a later one. */
export const qrShownMs = (earlier: number): number => (earlier === 0 ? firstQrMs : laterQrMs)

/** A code to type counts as long as the series of QR codes in whose place it is shown. */
export const codeShownMs = 160_000

/** A pairing by the same method that has nothing to show yet. */
export function blankPairing({ pairing }: Session) {
  return { pairing: blank(pairing), shownUntil: null, attempt: 0, nextAttemptAt: null }
}

function blank(pairing: Pairing | null): Pairing {
  return pairing?.method === 'code' ? { ...pairing, code: null } : { method: 'qr', qr: null }
}
