import { violates } from '../../base/db.ts'
import { type ApiError, conflict, type Issue, notFound, tooManyRequests } from '../../base/errors.ts'
import { secondsToNextUtcDay } from '../../base/time.ts'
import { joinPath } from '../../base/validation.ts'

export type UniqueField = 'externalRef' | 'uniqueCode'

export const leadNotFound = (): ApiError => notFound('Lead not found')

export const leadMissing = (): ApiError => notFound('Lead not found and createIfMissing is false')

export const valueTaken = (field: UniqueField, cause?: unknown): ApiError =>
  conflict(`Lead with this ${field} already exists`, { field }, cause)

/** The name that the database refused because another live lead has it; null for any other error. */
export function takenField(error: unknown): UniqueField | null {
  if (violates(error, 'leads_external_ref_key')) return 'externalRef'
  return violates(error, 'leads_unique_code_key') ? 'uniqueCode' : null
}

export const quotaReached = (now: Date): ApiError =>
  tooManyRequests('Daily lead limit reached', secondsToNextUtcDay(now))

export const assigneeIssue = (at: string): Issue => ({
  path: joinPath(at, 'assignedTo'),
  message: 'must be a member of the workspace',
})
