import type { Sql, Tx } from '../base/db.ts'
import { firstIdAt } from '../base/id.ts'
import { unnested } from '../base/postgres/rows.ts'
import type { Collected } from './collect-facts.ts'
import { addRollups, dimensions, type Fact, factKinds, isSameFact, type Rollup, rollupsOf } from './fact.ts'

/**
 * Stores facts in place of those that were counted of the same conversations and leads, and adds the difference to the
 * sums, in the transaction that holds the workspace's queue. What was counted before changes nothing: an event that is
 * read twice is not counted twice, and one that comes late changes the day on which it happened. Returns how many facts
 * have changed.
 */
export async function storeFacts(tx: Tx, workspaceId: string, collected: Collected): Promise<number> {
  const { subjectIds, facts, campaigns, keptBefore } = collected
  if (subjectIds.length === 0) return 0
  const stored = await selectStored(tx, workspaceId, subjectIds, facts)
  const keyOf = ({ kind, id }: Pick<Fact, 'kind' | 'id'>) => `${kind} ${id}`
  const byKey = new Map(facts.map((fact) => [keyOf(fact), fact]))
  const storedKeys = new Map(stored.map((fact) => [keyOf(fact), fact]))
  const isKept = ({ kind, subjectId, at }: Fact) =>
    keptBefore.some(
      (rule) => rule.kinds.includes(kind) && (rule.subjectId === null || rule.subjectId === subjectId) && at < rule.at,
    )
  const changed = facts.filter((fact) => {
    const before = storedKeys.get(keyOf(fact))
    return before === undefined ? true : !isSameFact(before, fact) && !isKept(before)
  })
  const gone = stored.filter((fact) => {
    const after = byKey.get(keyOf(fact))
    return after === undefined ? !isKept(fact) : changed.includes(after)
  })
  await deleteFacts(tx, workspaceId, gone)
  await insertFacts(tx, workspaceId, changed)
  await insertCampaigns(tx, workspaceId, campaigns)
  await addToRollups(tx, workspaceId, addRollups([...rollupsOf(gone, -1), ...rollupsOf(changed)]))
  return changed.length + gone.length
}

const factColumns = (sql: Sql) => sql`
  f.kind, f.id, f.subject_id as "subjectId", f.at, f.day::text as day, f.outcome, f.connection_id as "connectionId",
  f.team_id as "teamId", f.user_id as "userId", f.key_id as "keyId", f.source, f.campaign_id as "campaignId",
  f.label_ids as "labelIds", f.value`

const numbered = <R extends { value: number | string | null }>(row: R) => ({
  ...row,
  value: row.value === null ? null : Number(row.value),
})

/** Returns the facts of these, and those with the ids of the new ones: a merge moves messages to another conversation. */
async function selectStored(sql: Sql, workspaceId: string, subjectIds: readonly string[], facts: readonly Fact[]) {
  const rows = await sql<Fact[]>`
    select ${factColumns(sql)}
    from report_facts f
    where f.workspace_id = ${workspaceId}
      and f.subject_id = any (${[...subjectIds]}::uuid[])
    union
    select ${factColumns(sql)}
    from ${unnested(facts, { text: ['kind'], uuid: ['id'] })}
    cross join lateral (
      select *
      from report_facts
      where workspace_id = ${workspaceId}
        and kind = n.kind
        and id = n.id
    ) f`
  return rows.map(numbered)
}

async function deleteFacts(tx: Tx, workspaceId: string, facts: readonly Fact[]): Promise<void> {
  if (facts.length === 0) return
  await tx`
    delete from report_facts f
    using ${unnested(facts, { text: ['kind'], uuid: ['id'] })}
    where f.workspace_id = ${workspaceId}
      and f.kind = n.kind
      and f.id = n.id`
}

async function insertFacts(tx: Tx, workspaceId: string, facts: readonly Fact[]): Promise<void> {
  if (facts.length === 0) return
  const rows = facts.map(({ labelIds, ...fact }) => ({ ...fact, labels: `{${labelIds.join(',')}}` }))
  await tx`
    insert into report_facts (
      workspace_id, kind, id, subject_id, at, day, outcome, connection_id, team_id, user_id, key_id, source, campaign_id,
      label_ids, value
    )
    select ${workspaceId}::uuid, n.kind, n.id, n.subject_id, n.at, n.day::date, n.outcome, n.connection_id, n.team_id,
      n.user_id, n.key_id, n.source, n.campaign_id, n.labels::uuid[], n.value::bigint
    from ${unnested(rows, {
      text: ['kind', 'day', 'outcome', 'source', 'labels'],
      uuid: ['id', 'subjectId', 'connectionId', 'teamId', 'userId', 'keyId', 'campaignId'],
      timestamptz: ['at'],
      numeric: ['value'],
    })}`
}

async function insertCampaigns(tx: Tx, workspaceId: string, campaigns: Collected['campaigns']): Promise<void> {
  if (campaigns.length === 0) return
  await tx`
    insert into report_campaigns (workspace_id, id, name)
    select ${workspaceId}::uuid, n.id, n.name
    from ${unnested(campaigns, { uuid: ['id'], bytea: ['name'] })}
    on conflict do nothing`
}

async function addToRollups(tx: Tx, workspaceId: string, rollups: readonly Rollup[]): Promise<void> {
  if (rollups.length === 0) return
  await tx`
    insert into report_rollups as r (
      workspace_id, dimension, day, dimension_id, kind, outcome, bucket, count, total
    )
    select ${workspaceId}::uuid, n.dimension, n.day::date, n.dimension_id, n.kind, n.outcome, n.bucket::smallint, n.count::bigint,
      n.total
    from ${unnested(rollups, {
      text: ['dimension', 'day', 'dimensionId', 'kind', 'outcome'],
      integer: ['bucket', 'count'],
      numeric: ['total'],
    })}
    on conflict (workspace_id, dimension, day, dimension_id, kind, outcome, bucket)
    do update set count = r.count + excluded.count, total = r.total + excluded.total`
}

const pageLength = 5000

/**
 * Makes the sums of the next day after `after` again from its facts, so that they do not depend on earlier sums. Returns
 * the day; null after the last one.
 */
export async function rebuildDay(tx: Tx, workspaceId: string, after: string): Promise<string | null> {
  const [next] = await tx<{ day: string | null }[]>`
    select min(d.day)::text as day
    from (
      select k.day
      from unnest(${[...factKinds]}::text[]) as n (kind)
      cross join lateral (
        select min(f.day) as day
        from report_facts f
        where f.workspace_id = ${workspaceId}
          and f.kind = n.kind
          and f.day > ${after}::date
      ) k
      union all
      select min(r.day)
      from report_rollups r
      where r.workspace_id = ${workspaceId}
        and r.dimension = 'all'
        and r.day > ${after}::date
        and r.kind <> 'cost'
    ) d`
  const day = next?.day ?? null
  if (day === null) return null
  await tx`
    delete from report_rollups
    where workspace_id = ${workspaceId}
      and dimension = any (${['all', ...dimensions]}::text[])
      and day = ${day}::date
      and kind <> 'cost'`
  let rollups: Rollup[] = []
  for (const kind of factKinds) {
    for (let last: string | undefined = firstIdAt(new Date(0)); last !== undefined; ) {
      const page: Fact[] = await selectDay(tx, workspaceId, kind, day, last)
      rollups = addRollups([...rollups, ...rollupsOf(page)])
      last = page.length === pageLength ? page.at(-1)?.id : undefined
    }
  }
  await addToRollups(tx, workspaceId, rollups)
  return day
}

async function selectDay(sql: Sql, workspaceId: string, kind: string, day: string, afterId: string): Promise<Fact[]> {
  const rows = await sql<Fact[]>`
    select ${factColumns(sql)}
    from report_facts f
    where f.workspace_id = ${workspaceId}
      and f.kind = ${kind}
      and f.day = ${day}::date
      and f.id > ${afterId}::uuid
    order by f.id
    limit ${pageLength}`
  return rows.map(numbered)
}
