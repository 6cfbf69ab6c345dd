import type { ApiError } from '../../base/errors.ts'
import { presentLead } from '../lead/present.ts'
import type { UpsertOutcome } from './upsert-plan.ts'

/** The answer to a batch: counts, and a result for each item that was run. */
export function presentBulk(
  items: readonly unknown[],
  outcomes: readonly UpsertOutcome[],
  masked: boolean,
  dryRun: boolean,
) {
  const count = (action: UpsertOutcome['action']) => outcomes.filter((outcome) => outcome.action === action).length
  const failed = count('failed')
  return {
    success: failed === 0,
    processed: outcomes.length,
    created: count('created'),
    updated: count('updated'),
    failed,
    results: outcomes.map((outcome, index) => ({ index, match: matchOf(items[index]), ...result(outcome, masked) })),
    ...(dryRun ? { dryRun } : {}),
  }
}

function result(outcome: UpsertOutcome, masked: boolean) {
  if (outcome.action === 'failed') return { success: false, error: presentError(outcome.error) }
  return { success: true, action: outcome.action, lead: presentLead(outcome.lead, masked) }
}

/** A failure within an answer that is none. */
export function presentError({ statusCode, message, data }: ApiError) {
  return { statusCode, statusMessage: message, ...(data === undefined ? {} : { data }) }
}

function matchOf(item: unknown): unknown {
  return typeof item === 'object' && item !== null && 'match' in item ? item.match : null
}
