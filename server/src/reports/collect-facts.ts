import type { Fragment, Sql } from '../base/db.ts'
import { DecryptionError, decryptOrNull } from '../base/encryption/encrypt.ts'
import type { InboxDeps } from '../inbox/conversation/conversation.ts'
import { decryptContact } from '../inbox/conversation/encrypted-conversation.ts'
import { opaqueWorkspaceId } from '../inbox/conversation/queries.ts'
import { firstAnswers } from '../inbox/read/answer-times.ts'
import { endedCases, isClosing, isReopening } from '../inbox/reviews/ended-cases.ts'
import { readFirstCampaigns } from '../leads/sources/attribution.ts'
import { dayOf, type Fact } from './fact.ts'

export type CollectDeps = Pick<InboxDeps, 'db' | 'keyStore' | 'clock' | 'findLeads'>

/** The facts of some conversations or leads, as their records tell now. */
export interface Collected {
  /** All that were looked at. A conversation that no longer exists is left out: what was counted of it stays. */
  subjectIds: string[]
  facts: Fact[]
  /** Campaigns of the facts, with their encrypted names. */
  campaigns: { id: string; name: Buffer }[]
  /** Counted facts of these kinds and before these times stay, because their records may be gone. */
  keptBefore: { subjectId: string | null; kinds: readonly Fact['kind'][]; at: Date }[]
}

type FactRow = Omit<Fact, 'day' | 'source' | 'campaignId'> & { isCut: boolean }

/** Newest messages of a conversation that are read. */
const maxMessages = 5000
/** After the last case that may be opened again: whether it was, is known then. */
const endOfTime = new Date('9999-01-01T00:00:00Z')
const slackMs = 2 * 86_400_000

/** Returns the facts of these conversations. Conversations that were merged into others count as those. */
export async function collectConversations(
  deps: CollectDeps,
  workspaceId: string,
  ids: readonly string[],
  timeZone: string,
): Promise<Collected> {
  const { sql } = deps.db
  const found = await findConversations(sql, workspaceId, ids)
  const existing = [...new Set(found.map(({ id }) => id))]
  if (existing.length === 0) return { subjectIds: [], facts: [], campaigns: [], keptBefore: [] }
  const [workspace] = await sql<{ days: number | null }[]>`
    select keep_activities_days as days
    from workspaces
    where id = ${workspaceId}`
  const days = workspace?.days ?? null
  const [rows, { leadOf, campaigns }] = await Promise.all([
    selectFacts(sql, workspaceId, existing, days !== null),
    readLeads(deps, workspaceId, existing),
  ])
  const facts = rows.map(({ isCut: _, ...row }): Fact => {
    const value = row.value === null ? null : Number(row.value)
    return { ...row, value, day: dayOf(timeZone, row.at), ...leadOf(row.subjectId) }
  })
  const cut = Map.groupBy(
    rows.filter(({ isCut }) => isCut),
    ({ subjectId }) => subjectId,
  )
  const horizon = days === null ? null : new Date(deps.clock.now().getTime() - days * 86_400_000 + slackMs)
  return {
    subjectIds: [...existing, ...found.flatMap(({ mergedId }) => mergedId ?? [])],
    facts,
    campaigns,
    keptBefore: [
      ...[...cut].map(([subjectId, all]) => {
        const answers = all.filter(({ kind }) => kind === 'answer').map((one) => one.at.getTime())
        const at = new Date(Math.min(endOfTime.getTime(), ...answers))
        return { subjectId, kinds: ['answer'] as const, at }
      }),
      ...(horizon === null ? [] : [{ subjectId: null, kinds: ['closed', 'reopened', 'case'] as const, at: horizon }]),
    ],
  }
}

/** Returns the ids of those that exist, and with them those of conversations that were merged into them. */
function findConversations(sql: Sql, workspaceId: string, ids: readonly string[]) {
  return sql<{ id: string; mergedId: string | null }[]>`
    select id, null::uuid as "mergedId"
    from conversations
    where workspace_id = ${workspaceId}
      and id = any (${[...ids]}::uuid[])
    union all
    select conversation_id, id
    from conversation_aliases
    where workspace_id = ${workspaceId}
      and (id = any (${[...ids]}::uuid[]) or conversation_id = any (${[...ids]}::uuid[]))`
}

/**
 * Returns source and campaign of the lead with the customer's phone, by conversation. A value that was altered hides
 * them.
 */
async function readLeads({ db, keyStore, findLeads }: CollectDeps, workspaceId: string, ids: readonly string[]) {
  const rows = await db.sql<{ id: string; contact: Buffer }[]>`
    select id, contact
    from conversations
    where workspace_id = ${workspaceId}
      and id = any (${[...ids]}::uuid[])`
  const contacts = await keyStore.withKeyring(workspaceId, async (keyring) =>
    rows.map(({ id, contact }) => ({
      id,
      phone: decryptOrNull(() => decryptContact(keyring, id, contact))?.phone ?? null,
    })),
  )
  const found = await findLeads(workspaceId, [...new Set(contacts.flatMap(({ phone }) => phone ?? []))]).catch(
    (error: unknown) => {
      if (error instanceof DecryptionError) return new Map<string, { id: string }>()
      throw error
    },
  )
  const leads = await db.sql<{ id: string; source: string }[]>`
    select id, source
    from leads
    where workspace_id = ${workspaceId}
      and id = any (${[...found.values()].map(({ id }) => id)}::uuid[])
      and deleted_at is null`
  const sources = new Map(leads.map(({ id, source }) => [id, source]))
  const { campaigns, campaignOf } = await readCampaigns({ db, keyStore }, workspaceId, [...sources.keys()])
  const byConversation = new Map(
    contacts.map(({ id, phone }) => [id, (phone === null ? undefined : found.get(phone)?.id) ?? '']),
  )
  const leadOf = (conversationId: string) => {
    const leadId = byConversation.get(conversationId) ?? ''
    return { source: sources.get(leadId) ?? null, campaignId: campaignOf(leadId) }
  }
  return { leadOf, campaigns }
}

/** The campaigns that first brought leads. Equal names have the same id, which is no name of anyone. */
function readCampaigns({ db, keyStore }: Pick<CollectDeps, 'db' | 'keyStore'>, workspaceId: string, leadIds: string[]) {
  return keyStore.withKeyring(workspaceId, async (keyring) => {
    const names = await readFirstCampaigns(db.sql, keyring, workspaceId, leadIds)
    const ids = new Map(
      [...names.values()].map((name) => [name, uuidOf(keyring.stable('report_campaigns.name', name))]),
    )
    return {
      campaigns: [...ids].map(([name, id]) => ({ id, name: keyring.encrypt(campaignPlace(id), name) })),
      campaignOf: (leadId: string): string | null => ids.get(names.get(leadId) ?? '') ?? null,
    }
  })
}

const campaignPlace = (id: string) => ({ table: 'report_campaigns', row: id, column: 'name' })

const uuidOf = (digest: Buffer): string =>
  digest.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')

/** Returns the names of campaigns that were counted, by id. */
export async function readCampaignNames(
  { db, keyStore }: Pick<CollectDeps, 'db' | 'keyStore'>,
  workspaceId: string,
  ids: readonly string[],
): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map()
  const rows = await db.sql<{ id: string; name: Buffer }[]>`
    select id, name
    from report_campaigns
    where workspace_id = ${workspaceId}
      and id = any (${[...ids]}::uuid[])`
  return keyStore.withKeyring(
    workspaceId,
    async (keyring) => new Map(rows.map(({ id, name }) => [id, keyring.decryptText(campaignPlace(id), name)])),
  )
}

function selectFacts(
  sql: Sql,
  workspaceId: string,
  ids: readonly string[],
  losesActivities: boolean,
): Promise<FactRow[]> {
  const workspace = opaqueWorkspaceId(sql, workspaceId)
  const ofConversations = sql`a.conversation_id = any (${[...ids]}::uuid[])`
  return sql<FactRow[]>`
    with sampled as materialized (
      select c.id, c.connection_id, c.label_ids, c.team_id
      from conversations c
      where c.workspace_id = ${workspaceId}
        and c.id = any (${[...ids]}::uuid[])
    ),
    ${firstAnswers(sql, workspaceId, sql``, maxMessages)},
    sizes as (
      select conversation_id, count(*) = ${maxMessages} as is_cut
      from said
      group by conversation_id
    ),
    ${endedCases(sql, { workspaceId, where: ofConversations, now: endOfTime })},
    ${statusChanges(sql, workspaceId, ofConversations, losesActivities)},
    facts as (
      select 'new' as kind, s.id, s.id as subject_id, m.occurred_at as at, m.direction as outcome, null::uuid as user_id,
        null::uuid as key_id, null::double precision as value
      from sampled s
      cross join lateral (
        select m.occurred_at, m.direction
        from messages m
        where m.workspace_id = ${workspace}
          and m.conversation_id = s.id
          and m.origin <> 'history'
          and m.kind <> 'system'
          and m.actor_type is distinct from 'system'
          and m.status <> 'failed'
        order by m.occurred_at
        limit 1
      ) m
      union all
      select 'answer', id, conversation_id, occurred_at, answerer, case when answerer = 'people' then actor_id end,
        case when answerer = 'agents' then actor_id end, round(seconds * 1000)
      from answers
      where answerer is not null
      union all
      select 'closed', id, conversation_id, created_at, changed_by, user_id, key_id,
        round(extract(epoch from created_at - asked_at) * 1000)
      from closings
      union all
      select 'reopened', id, conversation_id, created_at, case when reason = 'customer_wrote' then 'customer' else changed_by end,
        user_id, key_id, null
      from changes
      where not closes
      union all
      select 'case', id, conversation_id, ended_at, outcome, null, key_id, null
      from cases
      union all
      -- Of five stars the upper and lower two, of three faces the first and last.
      select 'rating', r.id, r.conversation_id, r.rated_at,
        case when r.score * 10 > r.scale * 7 then 'good' when r.score * 10 <= r.scale * 4 then 'bad' else 'neutral' end,
        case when r.answered_by in ('user', 'token') then r.answerer_id end,
        case when r.answered_by = 'agent' then r.answerer_id end, null
      from satisfaction_ratings r
      where r.workspace_id = ${workspaceId}
        and r.conversation_id = any (${[...ids]}::uuid[])
        and r.status = 'rated'
    )
    select f.kind, f.id, f.subject_id as "subjectId", f.at, f.outcome, s.connection_id as "connectionId",
      ${teamAt(sql, workspace)} as "teamId", f.user_id as "userId", f.key_id as "keyId", f.value,
      s.label_ids as "labelIds", coalesce(z.is_cut, false) as "isCut"
    from facts f
    join sampled s on s.id = f.subject_id
    left join sizes z on z.conversation_id = f.subject_id`
}

/**
 * SQL: `changes`, the closings and reopenings, and `closings` with the customer's first message on the request. The closing
 * before may be older than activities are kept: then it is known from what was counted of it.
 */
const statusChanges = (sql: Sql, workspaceId: string, where: Fragment, losesActivities: boolean): Fragment => sql`
    changes as (
      select a.id, a.conversation_id, a.created_at, a.reason, ${isClosing(sql, sql`a`)} as closes,
        case
          when a.actor_type = 'agent' then 'agents'
          when a.actor_type in ('user', 'token') then 'people'
          else 'automatic'
        end as changed_by,
        case when a.actor_type in ('user', 'token') then a.actor_id end as user_id,
        case when a.actor_type = 'agent' then a.actor_id end as key_id
      from conversation_activities a
      where a.workspace_id = ${workspaceId}
        and ${where}
        and ((${isClosing(sql, sql`a`)}) or (${isReopening(sql, sql`a`)}))
    ),
    closings as (
      select c.*, q.asked_at
      from (
        select *, lag(created_at) over (partition by conversation_id order by created_at, id) as closed_before
        from changes
        where closes
      ) c
      left join lateral (
        select m.occurred_at as asked_at
        from messages m
        where m.workspace_id = ${opaqueWorkspaceId(sql, workspaceId)}
          and m.conversation_id = c.conversation_id
          and m.occurred_at > coalesce(c.closed_before, ${losesActivities ? countedBefore(sql, workspaceId) : sql`null`}, '-infinity')
          and m.occurred_at <= c.created_at
          and m.direction = 'inbound'
          and m.origin <> 'history'
          and m.kind <> 'system'
        order by m.occurred_at
        limit 1
      ) q on true
    )`

/** SQL: when the closing before `c` was, as counted. */
const countedBefore = (sql: Sql, workspaceId: string): Fragment => sql`
  (
    select max(n.at)
    from report_facts n
    where n.workspace_id = ${opaqueWorkspaceId(sql, workspaceId)}
      and n.subject_id = c.conversation_id
      and n.kind = 'closed'
      and n.at < c.created_at
  )`

/** SQL: the team that had the conversation `s` at the time of the fact `f`; the present one if it never changed. */
const teamAt = (sql: Sql, workspace: Fragment): Fragment => {
  const nearest = (value: Fragment, comparison: Fragment, direction: Fragment) => sql`
    select array[${value}]
    from conversation_activities a
    where a.workspace_id = ${workspace}
      and a.conversation_id = f.subject_id
      and a.created_at ${comparison} f.at
      and a.kind = 'team'
    order by a.created_at ${direction}, a.id ${direction}
    limit 1`
  return sql`
    (
      coalesce(
        (${nearest(sql`a.detail ->> 'to'`, sql`<=`, sql`desc`)}),
        (${nearest(sql`a.detail ->> 'from'`, sql`>`, sql`asc`)}),
        array[s.team_id::text]
      )
    )[1]::uuid`
}

/** Returns the facts of these leads; none of deleted ones. */
export async function collectLeads(
  deps: Pick<CollectDeps, 'db' | 'keyStore'>,
  workspaceId: string,
  ids: readonly string[],
  timeZone: string,
): Promise<Collected> {
  const rows = await deps.db.sql<Omit<Fact, 'day' | 'campaignId'>[]>`
    select 'lead' as kind, l.id, l.id as "subjectId", l.created_at as at, l.status as outcome, null::uuid as "connectionId",
      null::uuid as "teamId", l.assigned_to as "userId", null::uuid as "keyId", l.source,
      (100 * coalesce(l.actual_value, l.estimated_value))::double precision as value,
      array(
        select x.label_id
        from lead_labels x
        where x.workspace_id = l.workspace_id
          and x.lead_id = l.id
      ) as "labelIds"
    from leads l
    where l.workspace_id = ${workspaceId}
      and l.id = any (${[...ids]}::uuid[])
      and l.deleted_at is null`
  const { campaigns, campaignOf } = await readCampaigns(
    deps,
    workspaceId,
    rows.map(({ id }) => id),
  )
  const facts = rows.map((row): Fact => {
    const value = row.value === null ? null : Math.round(Number(row.value))
    return { ...row, value, campaignId: campaignOf(row.id), day: dayOf(timeZone, row.at) }
  })
  return { subjectIds: [...ids], facts, campaigns, keptBefore: [] }
}
