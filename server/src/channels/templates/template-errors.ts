import { ApiError, conflict, unprocessable } from '../../base/errors.ts'
import type { TemplateCallFailure } from './template-manager.ts'
import type { EditProblem } from './template-rules.ts'

/** The answer to a failed call about a template: the platform's explanation, and what to do. */
export function templateCallError({ outcome, errorCode, message }: TemplateCallFailure): ApiError {
  const data = { platform_code: errorCode, ...(message !== null && { platform_message: message }) }
  if (outcome === 'no_account') {
    return conflict('The connection has no business account id: enter it in its settings', { code: 'NO_ACCOUNT' })
  }
  if (outcome === 'refused') {
    const reason = message === null ? `error ${errorCode}` : `error ${errorCode}: ${message}`
    return unprocessable(`The platform refused it (${reason})`, { code: 'TEMPLATE_REFUSED', ...data })
  }
  if (outcome === 'failed') {
    return new ApiError(502, 'The platform could not be reached. Nothing was changed: try again.', {
      data: { code: 'PLATFORM_UNREACHABLE', ...data },
    })
  }
  return new ApiError(
    502,
    'The platform did not answer in time. Try again: what it has already done is not repeated.',
    {
      data: { code: 'OUTCOME_UNKNOWN', ...data },
    },
  )
}

const editProblems: Record<EditProblem, string> = {
  status: 'Only approved, rejected and paused templates can be edited',
  daily: 'An approved template can be edited once in 24 hours: try again later',
  monthly: 'An approved template can be edited 10 times in 30 days: try again later',
  name: 'The name of a template cannot be changed: copy it under another name',
  language: 'The language of a template cannot be changed: copy it in another language',
  category: 'The category of an approved template cannot be changed: copy it in another category',
}

export const editRefused = (problem: EditProblem): ApiError =>
  conflict(editProblems[problem], { code: 'EDIT_REFUSED', field: problem })

export const managedElsewhere = (): ApiError =>
  conflict('The templates of this connection are managed elsewhere: at the partner, or not at all', {
    code: 'MANAGED_ELSEWHERE',
  })

export const foreignParts = (): ApiError =>
  conflict('This template has parts that cannot be edited here. Edit it on the platform.', { code: 'FOREIGN_PARTS' })
