import { ApiError } from '../../api/api-error.ts'
import type { Connection } from '../../data/connections.ts'

type Number = Pick<Connection, 'id' | 'channel' | 'state'>

/** Whether a number may write first: a phone linked by QR code may not, nor one that is down. */
export const canStart = ({ channel, state }: Number): boolean => channel !== 'unofficial' && state === 'active'

/** The numbers to choose from: those that may write first, and those that somebody has a conversation on. */
export const numbersFor = <N extends Number>(
  numbers: readonly N[],
  conversations: readonly { connectionId: string }[],
): N[] => numbers.filter((one) => canStart(one) || conversations.some(({ connectionId }) => connectionId === one.id))

/** What one begins with: the number that was used last, else the first that may write. */
export const defaultNumber = (numbers: readonly Number[], last: string | null): string | null =>
  (numbers.find((one) => one.id === last && canStart(one)) ?? numbers.find(canStart))?.id ?? null

export type StartField = 'recipient' | 'number' | 'template' | 'all'

const fieldsByProblem: Record<string, StartField> = {
  CONNECTION_UNAVAILABLE: 'number',
  ACKNOWLEDGEMENT_REQUIRED: 'number',
  TEMPLATE_NOT_APPROVED: 'template',
  OPTED_OUT: 'template',
}

/** Beside which field a refusal is told. */
export function fieldOf(error: unknown): StartField {
  if (!(error instanceof ApiError)) return 'all'
  if (error.issues.has('phone')) return 'recipient'
  if (error.status === 404) return 'number'
  return fieldsByProblem[error.code ?? ''] ?? 'all'
}
