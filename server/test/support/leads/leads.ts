import { readQuota } from '../../../src/leads/lead/quota.ts'
import { signedInMember } from '../member.ts'
import type { World } from '../world.ts'

export const leadsPath = '/api/v1/leads'

/** Returns the path of a lead, by any of its identifiers. */
export const leadPath = (identifier: string): string => `${leadsPath}/${encodeURIComponent(identifier)}`

/** Returns the stored rows of the workspace; a refused request must leave them unchanged. */
export async function storedRows(world: World) {
  const { db, workspaceId } = world
  const [row] = await db.sql<{ leads: string | null; tokens: string | null; events: number; changes: number }[]>`
    select
      (select string_agg(md5(l::text), ',' order by l.id) from leads l where l.workspace_id = ${workspaceId}) as leads,
      (select string_agg(md5(s::text), ',' order by s.lead_id) from lead_search s where s.workspace_id = ${workspaceId})
        as tokens,
      (select count(*)::integer from events where workspace_id = ${workspaceId}) as events,
      (select count(*)::integer from lead_status_changes where workspace_id = ${workspaceId}) as changes`
  return { ...row, quota: await quotaUsed(world) }
}

/** Returns the number of creations counted against the day's quota. */
export async function quotaUsed({ db, workspaceId, clock }: World): Promise<number> {
  const { used } = await readQuota(db.sql, workspaceId, clock.now())
  return used
}

/** Returns the number of the workspace's events by name. */
export async function eventCounts({ db, workspaceId }: World): Promise<Record<string, number>> {
  const rows = await db.sql<{ name: string; count: number }[]>`
    select name, count(*)::integer as count
    from events
    where workspace_id = ${workspaceId}
    group by name`
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]))
}

/** Creates leads in batches; returns their ids. */
export async function makeLeads({ call }: World, leads: readonly object[]): Promise<string[]> {
  const ids: string[] = []
  for (let at = 0; at < leads.length; at += 100) {
    const items = leads.slice(at, at + 100).map((lead, n) => ({
      match: { by: 'externalRef', value: `made-${at + n}` },
      lead: { firstName: 'Ana', ...lead },
    }))
    const { body } = await call('POST', `${leadsPath}/bulk-upsert`, { body: { items } })
    for (const { lead, error } of body.results) {
      if (lead === undefined) throw new Error(`Lead not created: ${JSON.stringify(error)}`)
      ids.push(lead.id)
    }
  }
  return ids
}

/** Adds a user who is a member of the workspace. */
export const addMember = async (w: World): Promise<string> => (await signedInMember(w)).userId
