import type { Keyring } from '../../base/sealing/keyring.ts'

/** An attempt, by its delivery and its number. */
export interface AttemptPlace {
  endpointId: string
  position: number
  number: number
}

/**
 * Seals the first bytes of an answer. They belong to the attempt, wherever it is kept: with its delivery when it was
 * taken, and among the attempts once the event is sent again.
 */
export function sealAnswer(keyring: Keyring, attempt: AttemptPlace, answer: Uint8Array): Buffer {
  return keyring.seal(answerPlace(attempt), answer)
}

export function openAnswer(keyring: Keyring, attempt: AttemptPlace, sealed: Buffer): string {
  return keyring.open(answerPlace(attempt), sealed).toString('utf8')
}

export const answerPlace = ({ endpointId, position, number }: AttemptPlace) => ({
  table: 'webhook_attempts',
  row: `${endpointId}/${position}/${number}`,
  column: 'answer',
})
