import type { Sql, Tx } from '../../base/db.ts'
import { invalid } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import { unnested } from '../../base/postgres/rows.ts'

/** What reviewers score. */
export interface Criterion {
  id: string
  /** Null: a default criterion, whose name the app translates. */
  name: string | null
  steps: 3 | 5
}

export const defaultCriteria: readonly Criterion[] = ['solved', 'correct', 'tone'].map((id) => {
  return { id, name: null, steps: 5 }
})

export const maxCriteria = 6
export const defaultDailyLimit = 20

/** What was wrong. */
export const reviewFlags = [
  'wrong_answer',
  'should_have_handed_over',
  'should_not_have_handed_over',
  'tone',
  'privacy',
  'other',
] as const
export type ReviewFlag = (typeof reviewFlags)[number]

/** Which cases of a key are reviewed. */
export interface ReviewRules {
  /** Null: all keys without rules of their own. */
  keyId: string | null
  randomPerMille: number
  takeoverMinutes: number | null
  longMessages: number | null
  reopened: boolean
  lowScore: boolean
}

export interface ReviewSettings {
  criteria: Criterion[]
  dailyLimit: number
  rules: ReviewRules[]
}

export async function readReviewSettings(sql: Sql, workspaceId: string): Promise<ReviewSettings> {
  const [[settings], rules] = await Promise.all([
    sql<Pick<ReviewSettings, 'criteria' | 'dailyLimit'>[]>`
      select criteria, daily_limit as "dailyLimit"
      from review_settings
      where workspace_id = ${workspaceId}`,
    sql<ReviewRules[]>`
      select nullif(key_id, workspace_id) as "keyId", random_per_mille as "randomPerMille",
        takeover_minutes as "takeoverMinutes", long_messages as "longMessages", reopened, low_score as "lowScore"
      from review_rules
      where workspace_id = ${workspaceId}
      order by key_id <> workspace_id, key_id`,
  ])
  return {
    criteria: settings?.criteria ?? [...defaultCriteria],
    dailyLimit: settings?.dailyLimit ?? defaultDailyLimit,
    rules: [...rules],
  }
}

/** A criterion as an admin sends it; without an id it is new. */
export interface NewCriterion {
  id?: string | undefined
  name: string | null
  steps: 3 | 5
}

export interface ReviewSettingsChange {
  criteria?: readonly NewCriterion[] | undefined
  dailyLimit?: number | undefined
  /** Replaces all rules; rules that select nothing are dropped. */
  rules?: readonly ReviewRules[] | undefined
}

/** Changes the settings. The first rules apply to what ends from now on. Throws 400. */
export async function changeReviewSettings(
  tx: Tx,
  workspaceId: string,
  change: ReviewSettingsChange,
  now: Date,
): Promise<ReviewSettings> {
  // Locks the row, which the selection locks too.
  await tx`
    insert into review_settings (workspace_id, criteria, daily_limit, updated_at)
    values (${workspaceId}, ${tx.json(defaultCriteria)}, ${defaultDailyLimit}, ${now})
    on conflict (workspace_id) do update set updated_at = excluded.updated_at`
  const before = await readReviewSettings(tx, workspaceId)
  const criteria = change.criteria === undefined ? before.criteria : criteriaOf(change.criteria, before.criteria, now)
  const rules = change.rules === undefined ? before.rules : await replaceRules(tx, workspaceId, change.rules)
  const dailyLimit = change.dailyLimit ?? before.dailyLimit
  const startsAt = rules.length === 0 ? null : now
  await tx`
    update review_settings
    set criteria = ${tx.json(criteria)},
      daily_limit = ${dailyLimit},
      selected_until = case when ${startsAt}::timestamptz is null then null else coalesce(selected_until, ${startsAt}) end
    where workspace_id = ${workspaceId}`
  return { criteria, dailyLimit, rules }
}

/** Returns the new scorecard. A criterion with another number of steps is another one: its scores cannot be compared. */
export function criteriaOf(sent: readonly NewCriterion[], before: readonly Criterion[], now: Date): Criterion[] {
  const ids = new Set<string>()
  return sent.map(({ id, name, steps }, n) => {
    const same = [...before, ...defaultCriteria].find((one) => one.id === id)
    if (id !== undefined && same === undefined) throw invalid(`criteria.${n}.id`, 'must be the id of a criterion')
    if (name === null && !defaultCriteria.some((one) => one.id === id))
      throw invalid(`criteria.${n}.name`, 'is required')
    if (id !== undefined && ids.has(id)) throw invalid(`criteria.${n}.id`, 'must not appear twice')
    if (id !== undefined) ids.add(id)
    if (same?.steps === steps) return { id: same.id, name: name?.trim() ?? null, steps }
    if (name === null) throw invalid(`criteria.${n}.name`, 'is required')
    return { id: newId(now), name: name.trim(), steps }
  })
}

async function replaceRules(tx: Tx, workspaceId: string, sent: readonly ReviewRules[]): Promise<ReviewRules[]> {
  const keyIds = sent.map(({ keyId }) => keyId)
  if (new Set(keyIds).size < keyIds.length) throw invalid('rules', 'must not name a key twice')
  const named = keyIds.flatMap((keyId) => keyId ?? [])
  await requireKeys(tx, workspaceId, named)
  const rules = sent.filter((one) => one.keyId !== null || one.randomPerMille > 0 || hasSignal(one))
  await tx`delete from review_rules where workspace_id = ${workspaceId}`
  const rows = rules.map((one) => ({ ...one, keyId: one.keyId ?? workspaceId }))
  const columns = {
    uuid: ['keyId'],
    integer: ['randomPerMille', 'takeoverMinutes', 'longMessages'],
    boolean: ['reopened', 'lowScore'],
  } as const
  await tx`
    insert into review_rules (
      workspace_id, key_id, random_per_mille, takeover_minutes, long_messages, reopened, low_score
    )
    select ${workspaceId}::uuid, n.key_id, n.random_per_mille, n.takeover_minutes, n.long_messages, n.reopened, n.low_score
    from ${unnested(rows, columns)}`
  return rules
}

const hasSignal = ({ takeoverMinutes, longMessages, reopened, lowScore }: ReviewRules): boolean =>
  takeoverMinutes !== null || longMessages !== null || reopened || lowScore

async function requireKeys(tx: Tx, workspaceId: string, keyIds: readonly string[]): Promise<void> {
  const found = await tx<{ id: string }[]>`
    select id
    from api_keys
    where workspace_id = ${workspaceId}
      and id = any (${[...keyIds]}::uuid[])`
  if (found.length < keyIds.length) throw invalid('rules', 'must name keys of the workspace')
}
