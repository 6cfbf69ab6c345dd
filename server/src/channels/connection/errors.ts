import { violates } from '../../base/db.ts'
import { type ApiError, conflict, invalid, notFound, unprocessable } from '../../base/errors.ts'
import type { Channel } from './connection.ts'

export const connectionNotFound = (): ApiError => notFound('Connection not found')

/** Whether the database refused a number for another connection's: of the workspace, or one that its platform answered for. */
export const isNumberTaken = (error: unknown): boolean =>
  violates(error, 'connections_number_key') || violates(error, 'connections_own_number_key')

export const numberTaken = (cause: unknown): ApiError =>
  conflict('This number is connected already', { field: 'numberId' }, cause)

export const secretNeeded = (field: string): ApiError =>
  invalid(
    field,
    'must be sent with an address on another server: what is stored is for the server that it was given for',
  )

export const badBaseUrl = (refused: string): ApiError => invalid('baseUrl', refused)

export const notOfChannel = (field: string, channel: Channel): ApiError =>
  invalid(field, `is not a field of channel ${channel}`)

/** `reason` as a connection's `stateReason`. */
export const checkFailed = (reason: string): ApiError =>
  unprocessable('The platform refuses this number, or does not answer. Nothing was kept.', {
    code: 'CHECK_FAILED',
    reason,
  })

export const noRisk = (): ApiError => conflict('Only an unofficial connection has a risk to confirm')

export const noSession = (): ApiError => conflict('Only an unofficial connection has a session')
