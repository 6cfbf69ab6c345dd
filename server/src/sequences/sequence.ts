import type { Clock } from '../base/clock.ts'
import { type Db, publish, type Sql, type Tx } from '../base/db.ts'
import { conflict, InvalidInput, notFound } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import { recordAudit } from '../team/audit.ts'
import type { Member } from '../team/member.ts'
import { lockWorkspace } from '../workspaces/workspace.ts'
import { endRunsOf } from './run.ts'
import { limits, type SequenceChange, type SequenceDraft, type Step } from './sequence-schema.ts'
import { findProblems, validateSequence } from './validate-sequence.ts'

export interface SequenceDeps {
  db: Db
  clock: Clock
}

export interface Sequence extends SequenceDraft {
  id: string
  enabled: boolean
  version: number
  activeRuns: number
  createdAt: Date
  updatedAt: Date
}

/** Published when runs have begun or changed; the id is the workspace. Wakes the worker. */
export const sequencesTopic = 'sequences'

export const publishSequences = (tx: Tx, workspaceId: string): void => publish(tx, sequencesTopic, workspaceId)

export const sequenceNotFound = () => notFound('Sequence not found', { code: 'NOT_FOUND' })

/** Returns the sequences by name, or only the given one. */
export async function listSequences(sql: Sql, workspaceId: string, id: string | null = null): Promise<Sequence[]> {
  return sql<Sequence[]>`
    select s.id, s.name, s.enabled, s.version, v.connection_id as "connectionId", v.steps,
      s.end_statuses as "endStatuses", s.form_ids as "formIds", s.label_ids as "labelIds",
      s.for_agents as "forAgents", s.created_at as "createdAt", s.updated_at as "updatedAt",
      (
        select count(*)::integer
        from sequence_runs r
        where r.workspace_id = ${workspaceId}
          and r.sequence_id = s.id
          and r.state = 'active'
      ) as "activeRuns"
    from sequences s
    join sequence_versions v on v.workspace_id = s.workspace_id and v.sequence_id = s.id and v.version = s.version
    where s.workspace_id = ${workspaceId}
      and s.removed_at is null
      ${id === null ? sql`` : sql`and s.id = ${id}`}
    order by lower(s.name), s.id`
}

/** Returns one sequence. Throws 404. */
export async function requireSequence(sql: Sql, workspaceId: string, id: string): Promise<Sequence> {
  const [sequence] = await listSequences(sql, workspaceId, id)
  if (sequence === undefined) throw sequenceNotFound()
  return sequence
}

/** Creates a sequence, switched off. Throws 400 for what it names and does not exist, 409 if there are too many. */
export async function createSequence({ db, clock }: SequenceDeps, by: Member, given: SequenceDraft): Promise<string> {
  const { workspaceId } = by
  const now = clock.now()
  const draft = normalized(given)
  await validateSequence(db.sql, workspaceId, draft)
  const id = newId(now)
  await db.tx(async (tx) => {
    await lockWorkspace(tx, workspaceId)
    if ((await listSequences(tx, workspaceId)).length >= limits.sequences) {
      throw conflict(`A workspace has at most ${limits.sequences} sequences. Delete one that is not used.`)
    }
    await tx`
      insert into sequences (
        workspace_id, id, name, enabled, version, end_statuses, form_ids, label_ids, for_agents, created_at, updated_at
      )
      values (
        ${workspaceId}, ${id}, ${draft.name}, false, 1, ${draft.endStatuses}::text[], ${draft.formIds}::uuid[],
        ${draft.labelIds}::uuid[], ${draft.forAgents}, ${now}, ${now}
      )`
    await insertVersion(tx, workspaceId, { ...draft, id, version: 1 }, now)
    await recordAudit(tx, entry(by, 'created', id), now)
  })
  return id
}

/**
 * Changes a sequence. New steps are for runs that begin from now on: the others keep theirs. Switched off, it ends all its
 * runs. Throws 404, and 400 if it is to be on and something that it names cannot be sent.
 */
export async function changeSequence(
  { db, clock }: SequenceDeps,
  by: Member,
  id: string,
  change: SequenceChange,
): Promise<void> {
  const { workspaceId } = by
  const now = clock.now()
  await db.tx(async (tx) => {
    await lockSequence(tx, workspaceId, id)
    const before = await requireSequence(tx, workspaceId, id)
    const { enabled = before.enabled, ...fields } = change
    const after = { ...before, ...normalized({ ...draftOf(before), ...fields }), enabled }
    if (Object.keys(fields).length > 0) await validateSequence(tx, workspaceId, after)
    if (enabled && !before.enabled) await rejectProblems(tx, workspaceId, after)
    const version = workOf(before) === workOf(after) ? before.version : await nextVersion(tx, workspaceId, after, now)
    await tx`
      update sequences
      set name = ${after.name},
        enabled = ${enabled},
        version = ${version},
        end_statuses = ${after.endStatuses}::text[],
        form_ids = ${after.formIds}::uuid[],
        label_ids = ${after.labelIds}::uuid[],
        for_agents = ${after.forAgents},
        updated_at = ${now}
      where workspace_id = ${workspaceId}
        and id = ${id}`
    if (before.enabled && !enabled) await endRunsOf(tx, workspaceId, tx`sequence_id = ${id}`, 'off', now)
    await recordAudit(tx, entry(by, changeName(change), id), now)
    publishSequences(tx, workspaceId)
  })
}

/** Deletes a sequence and ends its runs; what it has sent stays. Throws 404. */
export async function deleteSequence({ db, clock }: SequenceDeps, by: Member, id: string): Promise<void> {
  const { workspaceId } = by
  const now = clock.now()
  await db.tx(async (tx) => {
    await lockSequence(tx, workspaceId, id)
    await tx`
      update sequences
      set enabled = false,
        removed_at = ${now}
      where workspace_id = ${workspaceId}
        and id = ${id}`
    await endRunsOf(tx, workspaceId, tx`sequence_id = ${id}`, 'off', now)
    await recordAudit(tx, entry(by, 'deleted', id), now)
  })
}

/** Waits for runs that are about to begin, so that switching off ends these too. */
async function lockSequence(tx: Tx, workspaceId: string, id: string): Promise<void> {
  const rows = await tx`
    select id
    from sequences
    where workspace_id = ${workspaceId}
      and id = ${id}
      and removed_at is null
    for update`
  if (rows.length === 0) throw sequenceNotFound()
}

async function rejectProblems(sql: Sql, workspaceId: string, sequence: Sequence): Promise<void> {
  const [problems = []] = await findProblems(sql, workspaceId, [sequence])
  if (problems.length === 0) return
  throw new InvalidInput(
    problems.map((path) => ({ path, message: 'cannot be sent or does not exist; change it first' })),
  )
}

/** Returns the version for changed steps: the same while it has had no run, else a new one. */
async function nextVersion(tx: Tx, workspaceId: string, after: Sequence, now: Date): Promise<number> {
  const { id, version } = after
  const used = await tx`
    select id
    from sequence_runs
    where workspace_id = ${workspaceId}
      and sequence_id = ${id}
      and version = ${version}
    limit 1`
  if (used.length === 0) {
    await tx`
      update sequence_versions
      set connection_id = ${after.connectionId},
        steps = ${tx.json(after.steps)}::jsonb
      where workspace_id = ${workspaceId}
        and sequence_id = ${id}
        and version = ${version}`
    return version
  }
  await insertVersion(tx, workspaceId, { ...after, version: version + 1 }, now)
  return version + 1
}

async function insertVersion(
  tx: Tx,
  workspaceId: string,
  { id, version, connectionId, steps }: Pick<Sequence, 'id' | 'version' | 'connectionId' | 'steps'>,
  now: Date,
): Promise<void> {
  await tx`
    insert into sequence_versions (workspace_id, sequence_id, version, connection_id, steps, created_at)
    values (${workspaceId}, ${id}, ${version}, ${connectionId}, ${tx.json(steps)}::jsonb, ${now})`
}

/** Returns what decides whether runs do the same, in one spelling. */
const workOf = ({ connectionId, steps }: Pick<Sequence, 'connectionId' | 'steps'>): string =>
  JSON.stringify([connectionId, steps.map(stepOf)])

const stepOf = ({ waitMinutes, businessHours, text, template }: Step) => [
  ...[waitMinutes, businessHours, text, template?.name, template?.language, template?.body_params],
  ...[template?.header_param, template?.header_url, template?.header_location, template?.button_params],
]

const draftOf = ({
  name,
  connectionId,
  steps,
  endStatuses,
  formIds,
  labelIds,
  forAgents,
}: Sequence): SequenceDraft => ({
  ...{ name, connectionId, steps, endStatuses, formIds, labelIds, forAgents },
})

function normalized(draft: SequenceDraft): SequenceDraft {
  const ids = (some: readonly string[]) => [...new Set(some.map((id) => id.toLowerCase()))]
  return {
    ...draft,
    name: draft.name.trim(),
    connectionId: draft.connectionId.toLowerCase(),
    endStatuses: [...new Set(draft.endStatuses)],
    formIds: ids(draft.formIds),
    labelIds: ids(draft.labelIds),
  }
}

function changeName({ enabled, ...draft }: SequenceChange): string {
  if (enabled === undefined || Object.keys(draft).length > 0) return 'changed'
  return enabled ? 'enabled' : 'disabled'
}

const entry = ({ workspaceId, actor }: Member, what: string, id: string) => ({
  ...{ scopeId: workspaceId, actor, action: `sequence.${what}`, target: `sequence:${id}` },
})
