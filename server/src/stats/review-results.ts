import type { InstructionsName } from '../inbox/reviews/agent-numbers.ts'
import type { ReviewSums, ScoreSum } from '../inbox/reviews/review-results.ts'
import type { Criterion } from '../inbox/reviews/review-settings.ts'
import type { ReviewResults } from './review-schema.ts'

interface ResultNames {
  criteria: readonly Criterion[]
  versions: readonly InstructionsName[]
  dates: readonly string[]
}

type OfVersion = { keyId: string; instructionsId: string | null }

/** Presents the sums by agent; means of several versions are weighted by their reviews. */
export function presentResults(
  { scores, criteria, flags }: ReviewSums,
  { criteria: scorecard, versions, dates }: ResultNames,
): ReviewResults['agents'] {
  const shown = criteria.filter(({ criterion }) => scorecard.some(({ id }) => id === criterion))
  const resultsOf = (isOf: (one: OfVersion) => boolean) => ({
    ...meanOf(scores.filter((one) => one.day === null && isOf(one))),
    criteria: scorecard.flatMap(({ id }) => {
      const own = shown.filter((one) => one.criterion === id && isOf(one))
      const reviews = sum(own.map((one) => one.reviews))
      return reviews === 0 ? [] : [{ id, reviews, meanStep: sum(own.map((o) => o.reviews * o.meanStep)) / reviews }]
    }),
    flags: [...Map.groupBy(flags.filter(isOf), ({ flag }) => flag)]
      .map(([flag, rows]) => ({ flag, reviews: sum(rows.map((one) => one.reviews)) }))
      .sort((a, b) => b.reviews - a.reviews || (a.flag < b.flag ? -1 : 1)),
  })
  const keyIds = [...new Set(scores.map(({ keyId }) => keyId))]
  return keyIds
    .map((keyId) => ({
      keyId,
      ...resultsOf((one) => one.keyId === keyId),
      days: scores
        .filter((one) => one.keyId === keyId && one.day !== null)
        .sort((a, b) => (a.day ?? 0) - (b.day ?? 0))
        .map(({ day, reviews, score }) => ({ date: dates[(day ?? 1) - 1] ?? '', reviews, score })),
      versions: scores
        .filter((one) => one.keyId === keyId && one.day === null)
        .map(({ instructionsId: id }) => {
          const { keyId: ofKey = null, version = null } = versions.find((one) => one.id === id) ?? {}
          const isOf = (one: OfVersion) => one.keyId === keyId && one.instructionsId === id
          return { id, keyId: ofKey, version, ...resultsOf(isOf) }
        })
        .sort((a, b) => (b.version ?? -1) - (a.version ?? -1)),
    }))
    .sort((a, b) => b.reviews - a.reviews || (a.keyId < b.keyId ? -1 : 1))
}

function meanOf(rows: readonly ScoreSum[]): { reviews: number; score: number | null } {
  const reviews = sum(rows.map((one) => one.reviews))
  return { reviews, score: reviews === 0 ? null : sum(rows.map((one) => one.reviews * one.score)) / reviews }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)
