import { type ApiError, conflict, invalid, notFound } from '../base/errors.ts'

export const connectionNotFound = (): ApiError => notFound('Connection not found')

export const numberTaken = (cause: unknown): ApiError =>
  conflict('This number is connected already', { field: 'numberId' }, cause)

export const badBaseUrl = (refused: string): ApiError => invalid('baseUrl', refused)

export const noRisk = (): ApiError => conflict('Only an unofficial connection has a risk to confirm')

export const noSession = (): ApiError => conflict('Only an unofficial connection has a session')
