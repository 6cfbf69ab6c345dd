import type { Tx } from '../../base/db.ts'
import { conflict, invalid, notFound } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import { withColumnNames } from '../../base/postgres/rows.ts'
import { addToAudit, recordAudit, workspaceEntry } from '../../team/audit.ts'
import { publishWorkspace } from '../../team/live-updates.ts'
import type { Member } from '../../team/member.ts'
import type { WorkspaceDeps } from '../change.ts'
import { lockWorkspace } from '../workspace.ts'
import {
  addVersion,
  everyAgent,
  findCurrent,
  findVersion,
  type InstructionScope,
  type InstructionVersion,
  listScopes,
  maxScopes,
  type PublishedVersion,
  publishVersion,
  reconcileWord,
} from './versions.ts'

type Deps = Pick<WorkspaceDeps, 'db' | 'clock'>

export interface DraftChange extends InstructionScope {
  text: string | null
  note: string | null
  /** The version in force that the writer knows; 0: none. */
  basedOn: number
  /** The revision of the draft that the writer knows; null: there is none. */
  revision: number | null
}

/** Begins or changes the draft of a scope. Throws 409 if someone else changed it, or published, meanwhile. */
export async function saveDraft(deps: Deps, by: Member, change: DraftChange): Promise<InstructionVersion> {
  const { workspaceId } = by
  await settleWord(deps, workspaceId)
  return deps.db.tx(async (tx) => {
    const now = deps.clock.now()
    const { inForce, draft } = await lockScope(tx, workspaceId, change)
    await refuseUnknownTarget(tx, workspaceId, change)
    refuseOtherDraft(draft, change.revision)
    refuseOtherVersion(inForce, change.basedOn)
    if (inForce === null && draft === null && (await listScopes(tx, workspaceId)).length >= maxScopes) {
      throw conflict(`A workspace has at most ${maxScopes} keys and connections with instructions`)
    }
    const id = draft?.id ?? newId(now)
    const { keyId, connectionId, text, note, basedOn } = change
    const row = {
      ...{ workspaceId, id, keyId, connectionId, text, note, basedOn, revision: (draft?.revision ?? 0) + 1 },
      ...{ actorType: by.actor.type, actorId: by.actor.id, createdAt: now, updatedAt: now },
    }
    await tx`
      insert into instruction_versions as v ${tx.row(withColumnNames(row))}
      on conflict (workspace_id, id) do update
      set text = excluded.text,
        note = excluded.note,
        based_on = excluded.based_on,
        revision = excluded.revision,
        actor_type = excluded.actor_type,
        actor_id = excluded.actor_id,
        updated_at = excluded.updated_at`
    await addToAudit(tx, entryOf(by, 'instructions.draft-saved', change), 1, now)
    publishWorkspace(tx, workspaceId)
    const saved = await findVersion(tx, workspaceId, id)
    if (saved === undefined) throw new Error('The draft was just stored')
    return saved
  })
}

/** Deletes a draft. Throws 409 if someone else changed it meanwhile, or if it is published. */
export async function discardDraft(deps: Deps, by: Member, id: string, revision: number): Promise<void> {
  const { workspaceId } = by
  await deps.db.tx(async (tx) => {
    const draft = await lockDraft(tx, workspaceId, id, revision)
    await tx`
      delete from instruction_versions
      where workspace_id = ${workspaceId}
        and id = ${draft.id}`
    await recordAudit(tx, entryOf(by, 'instructions.draft-discarded', draft), deps.clock.now())
    publishWorkspace(tx, workspaceId)
  })
}

/** Puts a draft in force. Throws 409 if someone else changed it, or published another version, meanwhile. */
export async function publishDraft(
  deps: Deps,
  by: Member,
  id: string,
  { revision, basedOn }: { revision: number; basedOn: number },
): Promise<PublishedVersion> {
  const { workspaceId } = by
  await settleWord(deps, workspaceId)
  return deps.db.tx(async (tx) => {
    const now = deps.clock.now()
    const draft = await lockDraft(tx, workspaceId, id, revision)
    const { inForce } = draft
    refuseOtherVersion(inForce, basedOn)
    refuseSameText(inForce, draft.text)
    const published = await publishVersion(tx, workspaceId, draft, by.actor, inForce, now)
    await recordAudit(tx, entryOf(by, 'instructions.published', draft, published), now)
    return published
  })
}

/** Publishes the text of an earlier version as a new one. Throws 409 if someone else published meanwhile. */
export async function restoreVersion(
  deps: Deps,
  by: Member,
  id: string,
  { basedOn }: { basedOn: number },
): Promise<PublishedVersion> {
  const { workspaceId } = by
  await settleWord(deps, workspaceId)
  return deps.db.tx(async (tx) => {
    const now = deps.clock.now()
    const found = await findVersion(tx, workspaceId, id)
    if (found === undefined || found.version === null) throw versionNotFound()
    const { inForce } = await lockScope(tx, workspaceId, found)
    refuseOtherVersion(inForce, basedOn)
    refuseSameText(inForce, found.text)
    const restored = { text: found.text, restores: found.version, actor: by.actor }
    const published = await addVersion(tx, workspaceId, found, restored, inForce, now)
    await recordAudit(tx, entryOf(by, 'instructions.restored', found, published), now)
    return published
  })
}

/** Records what a process of an older version wrote. First, because a change that it makes fail would undo it as well. */
async function settleWord(deps: Deps, workspaceId: string): Promise<void> {
  await deps.db.tx(async (tx) => {
    const workspace = await lockWorkspace(tx, workspaceId)
    if (workspace === undefined) throw notFound('Workspace not found')
    const { inForce } = await findCurrent(tx, workspaceId, everyAgent)
    await reconcileWord(tx, workspaceId, workspace, inForce)
  })
}

/** Locks the workspace; returns the version in force and the draft of the scope. */
async function lockScope(tx: Tx, workspaceId: string, scope: InstructionScope) {
  await lockWorkspace(tx, workspaceId)
  return findCurrent(tx, workspaceId, scope)
}

async function lockDraft(tx: Tx, workspaceId: string, id: string, revision: number) {
  const found = await findVersion(tx, workspaceId, id)
  if (found === undefined) throw versionNotFound()
  const { inForce, draft } = await lockScope(tx, workspaceId, found)
  // Read again under the lock.
  if (draft?.id !== found.id) throw conflict('This draft was published or discarded meanwhile.', draftChanged)
  refuseOtherDraft(draft, revision)
  return { ...draft, inForce }
}

const versionNotFound = () => notFound('Version of instructions not found')

const draftChanged = { code: 'DRAFT_CHANGED' }

function refuseOtherDraft(draft: InstructionVersion | null, revision: number | null): void {
  if ((draft?.revision ?? null) === revision) return
  if (draft === null) throw conflict('This draft was published or discarded meanwhile.', draftChanged)
  throw conflict('Someone else has changed this draft. Reload it.', {
    ...draftChanged,
    revision: draft.revision,
    by: draft.actorId,
    at: draft.updatedAt.toISOString(),
  })
}

function refuseOtherVersion(inForce: PublishedVersion | null, basedOn: number): void {
  if ((inForce?.version ?? 0) === basedOn) return
  throw conflict('Someone else has published a version meanwhile. Compare it with yours.', {
    code: 'VERSION_PUBLISHED',
    version: inForce?.version ?? 0,
    by: inForce?.actorId ?? null,
    at: inForce?.publishedAt.toISOString() ?? null,
  })
}

function refuseSameText(inForce: PublishedVersion | null, text: string | null): void {
  if ((inForce?.text ?? null) !== text) return
  throw conflict('This text is in force already.', { code: 'SAME_TEXT' })
}

async function refuseUnknownTarget(tx: Tx, workspaceId: string, { keyId, connectionId }: InstructionScope) {
  if (keyId !== null && connectionId !== null) throw invalid('connectionId', 'must be null if keyId is set')
  if (keyId !== null) {
    const keys = await tx`
      select
      from api_keys
      where workspace_id = ${workspaceId}
        and id = ${keyId}
        and revoked_at is null`
    if (keys.length === 0) throw invalid('keyId', 'must be the id of an API key of the workspace')
  }
  if (connectionId !== null) {
    const connections = await tx`
      select
      from connections
      where workspace_id = ${workspaceId}
        and id = ${connectionId}
        and removed_at is null`
    if (connections.length === 0) throw invalid('connectionId', 'must be the id of a connection of the workspace')
  }
}

/** The target is that of the agents: the workspace, a key or a connection. */
function entryOf(by: Member, action: string, { keyId, connectionId }: InstructionScope, published?: PublishedVersion) {
  const kept = keyId === null ? `workspace:${by.workspaceId}` : `api-key:${keyId}`
  return {
    ...workspaceEntry(by, action, connectionId === null ? kept : `connection:${connectionId}`),
    ...(published !== undefined && {
      details: { version: { before: published.version - 1, after: published.version } },
    }),
  }
}
