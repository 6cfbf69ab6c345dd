const consented = new Set<string>()

/** Remembers that the person acknowledged the risk before pairing. */
export function rememberConsent(connectionId: string): void {
  consented.add(connectionId)
}

/**
 * Returns whether the person acknowledged the risk in this tab before the pairing that has just ended, and clears it. A
 * pairing voids earlier acknowledgements; this avoids asking the same question twice.
 */
export function takeConsent(connectionId: string): boolean {
  return consented.delete(connectionId)
}
