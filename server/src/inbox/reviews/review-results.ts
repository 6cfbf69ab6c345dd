import type { Sql } from '../../base/db.ts'
import { timestampArray } from '../../base/postgres/values.ts'
import type { NumbersSpan } from './agent-numbers.ts'
import { createdIn } from './ended-cases.ts'
import type { ReviewFlag } from './review-settings.ts'

export interface ScoreSum {
  keyId: string
  /** Number of the day, from 1; null: of a version of the instructions. */
  day: number | null
  instructionsId: string | null
  reviews: number
  /** Mean, from 0 to 1. */
  score: number
}

export interface CriterionSum {
  keyId: string
  instructionsId: string | null
  criterion: string
  reviews: number
  meanStep: number
}

export interface FlagSum {
  keyId: string
  instructionsId: string | null
  flag: ReviewFlag
  reviews: number
}

export interface ReviewSums {
  scores: ScoreSum[]
  criteria: CriterionSum[]
  flags: FlagSum[]
}

/** Sums the results of reviews that were selected in the period: by day, and by version of the instructions. */
export async function sumReviews(sql: Sql, span: NumbersSpan, starts: readonly Date[]): Promise<ReviewSums> {
  const reviewed = sql`
    r.workspace_id = ${span.workspaceId}
      and ${createdIn(sql, sql`r`, span)}
      and r.status = 'reviewed'`
  const [scores, criteria, flags] = await Promise.all([
    sql<ScoreSum[]>`
      with dated as (
        select r.key_id, r.instructions_id, r.score,
          width_bucket(r.created_at, ${timestampArray(starts)}::timestamptz[]) as day
        from reviews r
        where ${reviewed}
      )
      select d.key_id as "keyId", d.day, d.instructions_id as "instructionsId", count(*)::integer as reviews,
        avg(d.score) as score
      from dated d
      group by grouping sets ((d.key_id, d.day), (d.key_id, d.instructions_id))`,
    sql<CriterionSum[]>`
      select r.key_id as "keyId", r.instructions_id as "instructionsId", s.key as criterion,
        count(*)::integer as reviews, avg(s.value::integer)::float8 as "meanStep"
      from reviews r
      cross join lateral jsonb_each_text(r.scores) as s
      where ${reviewed}
      group by r.key_id, r.instructions_id, s.key`,
    sql<FlagSum[]>`
      select r.key_id as "keyId", r.instructions_id as "instructionsId", f.flag, count(*)::integer as reviews
      from reviews r
      cross join lateral unnest(r.flags) as f (flag)
      where ${reviewed}
      group by r.key_id, r.instructions_id, f.flag`,
  ])
  return { scores: [...scores], criteria: [...criteria], flags: [...flags] }
}
