import { ApiError } from '../../api/api-error.ts'
import type { Connection } from '../../data/connections.ts'

type Number = Pick<Connection, 'id' | 'channel' | 'state'>

/** Returns whether a connection may start conversations: only the platform's own numbers may, while they are available. */
export const canStart = ({ channel, state }: Number): boolean =>
  (channel === 'waba' || channel === 'partner') && state === 'active'

/** Returns connections to choose from: those that may start conversations, and those with an existing one. */
export const numbersFor = <N extends Number>(
  numbers: readonly N[],
  conversations: readonly { connectionId: string }[],
): N[] => numbers.filter((one) => canStart(one) || conversations.some(({ connectionId }) => connectionId === one.id))

/** Returns the last used connection, otherwise the first that may start conversations. */
export const defaultNumber = (numbers: readonly Number[], last: string | null): string | null =>
  (numbers.find((one) => one.id === last && canStart(one)) ?? numbers.find(canStart))?.id ?? null

export type StartField = 'recipient' | 'number' | 'template' | 'all'

const fieldsByProblem: Record<string, StartField> = {
  CONNECTION_UNAVAILABLE: 'number',
  ACKNOWLEDGEMENT_REQUIRED: 'number',
  TEMPLATE_NOT_APPROVED: 'template',
  OPTED_OUT: 'template',
}

/** Returns the field that an error belongs to. */
export function fieldOf(error: unknown): StartField {
  if (!(error instanceof ApiError)) return 'all'
  if (error.issues.has('phone')) return 'recipient'
  if (error.status === 404) return 'number'
  return fieldsByProblem[error.code ?? ''] ?? 'all'
}
