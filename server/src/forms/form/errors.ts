import { type ApiError, conflict, forbidden, notFound, tooManyRequests } from '../../base/errors.ts'

/** Forms that one workspace can have. */
export const maxForms = 200

export const formNotFound = (): ApiError => notFound('Form not found')

export const slugTaken = (cause?: unknown): ApiError =>
  conflict('Form with this slug already exists', { field: 'slug' }, cause)

/** Addresses that the forms of one workspace ever had: they are its own for good. */
export const maxSlugs = 1_000

export const tooManySlugs = (): ApiError =>
  conflict(`A workspace's forms have at most ${maxSlugs} addresses over time. Take one of those that they had.`, {
    field: 'slug',
  })

export const tooManyForms = (): ApiError =>
  conflict(`A workspace has at most ${maxForms} forms. Delete one that is not used.`)

export const originNotAllowed = (): ApiError =>
  forbidden("This site may not post to this form. Add its origin to the form's allowedOrigins.")

export const sentTooOften = (retryAfterSeconds: number): ApiError =>
  tooManyRequests(`Sent too often from one place. Please try again in ${retryAfterSeconds} s.`, retryAfterSeconds, {
    code: 'RATE_LIMITED',
  })

/** Whether a 429 is for the day's quota rather than for this sender. */
export const isQuotaReached = (error: ApiError): boolean => error.statusCode === 429 && error.data === undefined
