const consented = new Set<string>()

/** The person has read the risk of this connection and ticked it, on the way to its code. */
export function rememberConsent(connectionId: string): void {
  consented.add(connectionId)
}

/**
 * Whether the person at this browser said so for the pairing that has just ended: a pairing voids what was confirmed
 * before it, and they are not asked the same twice. Counts once.
 */
export function takeConsent(connectionId: string): boolean {
  return consented.delete(connectionId)
}
