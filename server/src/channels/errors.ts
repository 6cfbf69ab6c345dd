import { type ApiError, conflict, invalid, notFound } from '../base/errors.ts'
import type { Channel } from './connection.ts'

export const connectionNotFound = (): ApiError => notFound('Connection not found')

export const numberTaken = (cause: unknown): ApiError =>
  conflict('This number is connected already', { field: 'numberId' }, cause)

export const badBaseUrl = (refused: string): ApiError => invalid('baseUrl', refused)

export const notOfChannel = (field: string, channel: Channel): ApiError =>
  invalid(field, `is not a field of channel ${channel}`)

export const noRisk = (): ApiError => conflict('Only an unofficial connection has a risk to confirm')

export const noSession = (): ApiError => conflict('Only an unofficial connection has a session')
