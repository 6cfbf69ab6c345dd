import type { Sql, Tx } from '../../base/db.ts'
import { newId } from '../../base/id.ts'
import { selectedAs, withColumnNames } from '../../base/postgres/rows.ts'
import { publishWorkspace } from '../../team/live-updates.ts'
import type { TeamActor } from '../../team/member.ts'
import { publishChange } from '../workspace.ts'

/** Whom instructions are for: all agents, one key, or all agents in the conversations of one connection. */
export interface InstructionScope {
  keyId: string | null
  connectionId: string | null
}

export const everyAgent: InstructionScope = { keyId: null, connectionId: null }
export const isForEvery = ({ keyId, connectionId }: InstructionScope): boolean =>
  keyId === null && connectionId === null

export interface InstructionVersion extends InstructionScope {
  id: string
  /** Counts up in its scope; null for a draft. */
  version: number | null
  /** Null: none from this version on. */
  text: string | null
  note: string | null
  /** For a draft: the version in force when it was begun (0: none), and how often it was saved. */
  basedOn: number
  revision: number
  /** Number of the earlier version that it restores. */
  restores: number | null
  /** Null: older than the history, or written by a process of an older version. */
  actorType: TeamActor['type'] | null
  actorId: string | null
  createdAt: Date
  updatedAt: Date
  /** Null for a draft. */
  publishedAt: Date | null
}

export type PublishedVersion = InstructionVersion & { version: number; publishedAt: Date }

/** Published versions that are kept in each scope. */
export const maxVersions = 100
/** Scopes with instructions in a workspace. */
export const maxScopes = 500

const columns = selectedAs('v', [
  ...['id', 'keyId', 'connectionId', 'version', 'text', 'note', 'basedOn', 'revision', 'restores'],
  ...['actorType', 'actorId', 'createdAt', 'updatedAt', 'publishedAt'],
])

// Not `is not distinct from`, for which no index is used.
const inScope = (sql: Sql, workspaceId: string, { keyId, connectionId }: InstructionScope) => sql`
  v.workspace_id = ${workspaceId}
  and ${keyId === null ? sql`v.key_id is null` : sql`v.key_id = ${keyId}`}
  and ${connectionId === null ? sql`v.connection_id is null` : sql`v.connection_id = ${connectionId}`}`

/** Returns the versions of a scope, newest first, and its draft. */
export async function listVersions(
  sql: Sql,
  workspaceId: string,
  scope: InstructionScope,
): Promise<{ draft: InstructionVersion | null; versions: PublishedVersion[] }> {
  const rows = await sql<InstructionVersion[]>`
    select ${columns}
    from instruction_versions v
    where ${inScope(sql, workspaceId, scope)}
    order by v.version desc nulls first`
  return { draft: rows.find((row) => row.publishedAt === null) ?? null, versions: rows.filter(isPublished) }
}

const isPublished = (row: InstructionVersion): row is PublishedVersion => row.publishedAt !== null

export async function findVersion(sql: Sql, workspaceId: string, id: string): Promise<InstructionVersion | undefined> {
  const [row] = await sql<InstructionVersion[]>`
    select ${columns}
    from instruction_versions v
    where v.workspace_id = ${workspaceId}
      and v.id = ${id}`
  return row
}

/** Returns the version in force and the draft of a scope. */
export async function findCurrent(
  sql: Sql,
  workspaceId: string,
  scope: InstructionScope,
): Promise<{ inForce: PublishedVersion | null; draft: InstructionVersion | null }> {
  const rows = await sql<InstructionVersion[]>`
    (
      select ${columns}
      from instruction_versions v
      where ${inScope(sql, workspaceId, scope)}
        and v.published_at is not null
      order by v.version desc
      limit 1
    )
    union all
    select ${columns}
    from instruction_versions v
    where ${inScope(sql, workspaceId, scope)}
      and v.published_at is null`
  return { inForce: rows.find(isPublished) ?? null, draft: rows.find((row) => row.publishedAt === null) ?? null }
}

/** What an agent works under. */
export interface InForce {
  workspace: PublishedVersion | null
  key: PublishedVersion | null
  /** At most one for each connection. */
  connections: PublishedVersion[]
}

/**
 * Returns the versions in force for a key on these connections (empty: on all), now or at a time. Null where there was
 * none, or where its version is no longer kept.
 */
export async function findInForce(
  sql: Sql,
  workspaceId: string,
  { keyId, connectionIds }: { keyId: string; connectionIds: readonly string[] },
  at: Date | null = null,
): Promise<InForce> {
  const rows = await sql<PublishedVersion[]>`
    select ${columns}
    from (
      select distinct on (key_id, connection_id) id
      from instruction_versions
      where workspace_id = ${workspaceId}
        and published_at is not null
        and (${at}::timestamptz is null or published_at <= ${at}::timestamptz)
        and (key_id is null or key_id = ${keyId})
        and (
          connection_id is null
          or cardinality(${[...connectionIds]}::uuid[]) = 0
          or connection_id = any (${[...connectionIds]}::uuid[])
        )
      order by key_id, connection_id, version desc
    ) as newest
    join instruction_versions v on v.workspace_id = ${workspaceId} and v.id = newest.id`
  const isOf = (scope: InstructionScope) => (row: PublishedVersion) =>
    row.keyId === scope.keyId && row.connectionId === scope.connectionId
  return {
    workspace: rows.find(isOf(everyAgent)) ?? null,
    key: rows.find(isOf({ keyId, connectionId: null })) ?? null,
    connections: rows.filter((row) => row.connectionId !== null),
  }
}

export interface ScopeSummary extends InstructionScope {
  /** The one in force; 0: none. */
  version: number
  hasText: boolean
  hasDraft: boolean
}

/** Returns the scopes that have a version or a draft. */
export async function listScopes(sql: Sql, workspaceId: string): Promise<ScopeSummary[]> {
  return sql<ScopeSummary[]>`
    select
      v.key_id as "keyId",
      v.connection_id as "connectionId",
      coalesce(max(v.version), 0) as version,
      coalesce(
        (array_agg(v.text is not null order by v.version desc) filter (where v.published_at is not null))[1],
        false
      ) as "hasText",
      bool_or(v.published_at is null) as "hasDraft"
    from instruction_versions v
    where v.workspace_id = ${workspaceId}
    group by v.key_id, v.connection_id
    order by v.key_id nulls first, v.connection_id nulls first
    limit ${maxScopes}`
}

/** A version to publish at once, without a draft. */
interface NewVersion {
  text: string | null
  note?: string | null
  restores?: number | null
  /** Null if unknown. */
  actor: TeamActor | null
}

/**
 * Publishes a version, in the transaction of the change. The workspace must be locked, so that versions are numbered and
 * timed in the order in which they take effect.
 */
export async function addVersion(
  tx: Tx,
  workspaceId: string,
  scope: InstructionScope,
  { text, note = null, restores = null, actor }: NewVersion,
  previous: PublishedVersion | null,
  now: Date,
): Promise<PublishedVersion> {
  const publishedAt = laterOf(now, previous)
  const number = (previous?.version ?? 0) + 1
  const version = {
    ...{ workspaceId, id: newId(now), keyId: scope.keyId, connectionId: scope.connectionId, version: number },
    ...{ text, note, basedOn: number - 1, restores, actorType: actor?.type ?? null, actorId: actor?.id ?? null },
    ...{ createdAt: now, updatedAt: now, publishedAt },
  }
  const [row] = await tx<[PublishedVersion]>`
    insert into instruction_versions as v ${tx.row(withColumnNames(version))}
    returning ${columns}`
  await takeEffect(tx, workspaceId, row)
  return row
}

/** Publishes a draft under its own id. The workspace must be locked. */
export async function publishVersion(
  tx: Tx,
  workspaceId: string,
  draft: InstructionVersion,
  actor: TeamActor,
  previous: PublishedVersion | null,
  now: Date,
): Promise<PublishedVersion> {
  const [row] = await tx<[PublishedVersion]>`
    update instruction_versions as v
    set version = ${(previous?.version ?? 0) + 1},
      actor_type = ${actor.type},
      actor_id = ${actor.id},
      updated_at = ${now},
      published_at = ${laterOf(now, previous)}
    where v.workspace_id = ${workspaceId}
      and v.id = ${draft.id}
    returning ${columns}`
  await takeEffect(tx, workspaceId, row)
  return row
}

// Clocks of two machines may differ.
const laterOf = (now: Date, previous: PublishedVersion | null): Date =>
  previous !== null && previous.publishedAt > now ? previous.publishedAt : now

/** Removes versions beyond those kept, and tells agents and open pages of the new one. */
async function takeEffect(tx: Tx, workspaceId: string, published: PublishedVersion): Promise<void> {
  await tx`
    delete from instruction_versions v
    where ${inScope(tx, workspaceId, published)}
      and v.version <= ${published.version - maxVersions}`
  publishWorkspace(tx, workspaceId)
  if (published.keyId !== null) {
    await tx`
      update api_keys
      set instructions_version = instructions_version + 1
      where workspace_id = ${workspaceId}
        and id = ${published.keyId}`
    await tx`select pg_notify('api_keys', ${published.keyId})`
    return
  }
  await tx`
    update workspaces
    set instructions_version = instructions_version + 1
      ${isForEvery(published) ? tx`, agent_word = ${published.text}, updated_at = ${published.updatedAt}` : tx``}
    where id = ${workspaceId}`
  await publishChange(tx, workspaceId)
}

/** The workspace's own text, as its settings have it. */
interface Word {
  agentWord: string | null
  updatedAt: Date
}

/**
 * Returns the version in force for all agents. Records one first if the settings have another text: a process of an older
 * version, which knows no history, has changed it. The workspace must be locked.
 */
export async function reconcileWord(
  tx: Tx,
  workspaceId: string,
  { agentWord, updatedAt }: Word,
  inForce: PublishedVersion | null,
): Promise<PublishedVersion | null> {
  if ((inForce?.text ?? null) === agentWord) return inForce
  return addVersion(tx, workspaceId, everyAgent, { text: agentWord, actor: null }, inForce, updatedAt)
}

/** Records a change of the settings as a version. The workspace must be locked; `before` is what it had. */
export async function recordWord(
  tx: Tx,
  workspaceId: string,
  before: Word,
  change: { text: string | null; actor: TeamActor },
  now: Date,
): Promise<void> {
  const { inForce } = await findCurrent(tx, workspaceId, everyAgent)
  const previous = await reconcileWord(tx, workspaceId, before, inForce)
  await addVersion(tx, workspaceId, everyAgent, change, previous, now)
}
