import type { Criterion } from '../data/team/reviews.ts'
import { t } from '../text/index.ts'

/** Returns the name of a criterion of the scorecard; default ones are translated. */
export function criterionName({ id, name }: Pick<Criterion, 'id' | 'name'>): string {
  const defaults: Record<string, string> = t.review.criteria
  return name ?? defaults[id] ?? id
}
