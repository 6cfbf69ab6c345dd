import type { Tx } from '../../base/db.ts'
import { conflict, InvalidInput } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import { recordAudit } from '../../team/audit.ts'
import { publishConnection } from '../../team/live-updates.ts'
import type { Member } from '../../team/member.ts'
import type { ConnectionKey } from '../connection/connection.ts'
import type { JsonObject } from '../waba/json.ts'
import { parseTemplate } from '../waba/templates.ts'
import type { SyncDeps } from './sync-templates.ts'
import { componentsOf, contentOf, hasSameTexts } from './template-components.ts'
import type { TemplateContent } from './template-content.ts'
import { deleteDraft, deleteDraftsOf, requireDraft, type TemplateDraft, updateDraft } from './template-drafts.ts'
import { editRefused, templateCallError } from './template-errors.ts'
import type { TemplateCallFailure } from './template-manager.ts'
import { findEditProblem, findTemplateProblems } from './template-rules.ts'
import { scheduleTemplateSync } from './template-schedule.ts'
import {
  listTemplates,
  lockTemplate,
  type ReviewedTemplate,
  recordEdit,
  removeTemplate,
  storeTemplates,
} from './templates.ts'
import { findListed, type ManagedConnection, refuseWhileSubmitted, requireManager } from './write-draft.ts'

/** Longer than all calls of a submission together. */
const claimMs = 90_000

type Submitter = Pick<Member, 'workspaceId' | 'actor'>

/** Who submits what, with the connection. */
interface Submission extends ManagedConnection {
  by: Submitter
  draft: TemplateDraft
  /** The template that it changes; null for a new one. */
  template: ReviewedTemplate | null
  /** Whether an earlier submission may have arrived. */
  wasTried: boolean
}

/**
 * Submits a draft for review and returns the template; the draft is deleted. Two submissions at once are one: the second
 * gets 409. After a lost answer the next one looks the template up at the platform first.
 */
export async function submitDraft(deps: SyncDeps, by: Submitter, id: string): Promise<ReviewedTemplate> {
  const submission = await claim(deps, by, id)
  const result = await submit(submission).catch(async (error: unknown) => {
    await release(deps, submission.draft, submission.wasTried)
    throw error
  })
  if (!result.ok) {
    // Also after a refusal: the earlier one may be what it collides with, and the platform lists it late.
    await release(deps, submission.draft, submission.wasTried || result.outcome === 'unknown')
    throw templateCallError(result)
  }
  return record(deps, submission, result.template)
}

async function claim(deps: SyncDeps, by: Submitter, id: string): Promise<Submission> {
  const { db, keyStore, clock } = deps
  const { workspaceId } = by
  const claimed = await keyStore.withKeyring(workspaceId, (keyring) =>
    db.tx(async (tx) => {
      const now = clock.now()
      const draft = await requireDraft(tx, keyring, workspaceId, id, 'for update')
      refuseWhileSubmitted(draft, now)
      const problems = findTemplateProblems(draft.content, draft.file !== null).filter(({ isWarning }) => !isWarning)
      if (problems.length > 0) throw new InvalidInput(problems.map(({ path, message }) => ({ path, message })))
      const template = await lockChanged(tx, draft, now)
      const submittingUntil = new Date(now.getTime() + claimMs)
      // Before the call: a process that dies during it may have submitted.
      await updateDraft(tx, keyring, { ...draft, submittingUntil, isTried: true })
      return { draft, template, wasTried: draft.isTried }
    }),
  )
  try {
    return { ...claimed, by, ...(await requireManager(deps, workspaceId, claimed.draft.connectionId)) }
  } catch (error) {
    await release(deps, claimed.draft, claimed.wasTried)
    throw error
  }
}

/** Returns the template that a draft changes. Throws 409 if the platform would refuse the change. */
async function lockChanged(tx: Tx, draft: TemplateDraft, now: Date): Promise<ReviewedTemplate | null> {
  const { workspaceId, connectionId, templateId, content } = draft
  if (templateId === null) return null
  const template = await lockTemplate(tx, { workspaceId, id: connectionId }, templateId)
  if (template === undefined) throw conflict('The template no longer exists: delete this draft')
  const problem = findEditProblem(template, content, now)
  // A change whose answer was lost may be the one that counts.
  if (problem !== null && !(draft.isTried && (problem === 'daily' || problem === 'status'))) throw editRefused(problem)
  return template
}

async function release(
  { db, keyStore }: SyncDeps,
  { workspaceId, id }: TemplateDraft,
  isTried: boolean,
): Promise<void> {
  await keyStore.withKeyring(workspaceId, (keyring) =>
    db.tx(async (tx) => {
      const draft = await requireDraft(tx, keyring, workspaceId, id, 'for update')
      await updateDraft(tx, keyring, { ...draft, submittingUntil: null, isTried })
    }),
  )
}

const notKnownWell = () => conflict('The template is not known well enough yet. Sync the templates first.')

type Result = { ok: true; template: JsonObject } | TemplateCallFailure

/** Calls the platform. Throws 409 if a template with this name and language exists already. */
async function submit(submission: Submission): Promise<Result> {
  const { connection, manager, draft, template, wasTried } = submission
  const { content } = draft
  const components = componentsOf(content, draft.file?.handle ?? null)
  if (template === null || wasTried) {
    const found = await manager.find(connection, content.name, content.language)
    // Says nothing about an earlier submission.
    if (!found.ok) throw templateCallError(found)
    const current = found.template === null ? null : contentOf(found.template)
    if (found.template !== null && wasTried && current !== null && hasSameTexts(current, content)) {
      return { ok: true, template: found.template }
    }
    if (found.template !== null && template === null) {
      const message = 'A template with this name and language already exists'
      throw conflict(message, { code: 'NAME_TAKEN', field: 'name' })
    }
  }
  if (template === null) {
    const { name, language, category } = content
    const isNamed = content.format === 'named' && category !== 'AUTHENTICATION'
    const format = isNamed ? 'NAMED' : 'POSITIONAL'
    const created = await manager.create(connection, { name, language, category, format, components })
    if (!created.ok) return created
    return { ok: true, template: listed(content, components, created) }
  }
  const { externalId, status, category } = template
  if (externalId === null) throw notKnownWell()
  const isSameCategory = category.toUpperCase() === content.category
  const change = { category: isSameCategory || status === 'APPROVED' ? null : content.category, components }
  const edited = await manager.edit(connection, externalId, change)
  if (!edited.ok) return edited
  return {
    ok: true,
    template: listed(content, components, { externalId, status: 'PENDING', category: content.category }),
  }
}

/** Returns a template as the platform will list it. */
function listed(
  { name, language, format }: TemplateContent,
  components: JsonObject[],
  { externalId, status, category }: { externalId: string; status: string; category: string },
): JsonObject {
  return { id: externalId, name, language, status, category, parameter_format: format.toUpperCase(), components }
}

/** Stores the submitted template and deletes its draft. */
async function record(
  deps: SyncDeps,
  { by, draft, connection, template }: Submission,
  submitted: JsonObject,
): Promise<ReviewedTemplate> {
  const { workspaceId } = by
  const { content, id } = draft
  return deps.db.tx(async (tx) => {
    const now = deps.clock.now()
    const parsed = parseTemplate(submitted)
    if (parsed !== null) await storeTemplates(tx, connection, [{ id: newId(now), ...parsed }], now)
    await deleteDraft(tx, workspaceId, id)
    publishConnection(tx, workspaceId, connection.id)
    const all = await listTemplates(tx, connection)
    const stored = all.find((one) => one.name === content.name && one.language === content.language)
    if (stored === undefined) throw new Error('The submitted template was not stored')
    if (template !== null) await recordEdit(tx, connection, stored.id, now)
    const action = template === null ? 'template.submitted' : 'template.edited'
    await recordAudit(tx, { scopeId: workspaceId, actor: by.actor, action, target: `template:${stored.id}` }, now)
    await scheduleSyncOfAccount(tx, connection, now)
    return stored
  })
}

/** Schedules a sync for all connections of the account, which have the same templates. */
async function scheduleSyncOfAccount(
  tx: Tx,
  { workspaceId, id, accountId }: ConnectionKey & { accountId: string | null },
  now: Date,
): Promise<void> {
  const others = await tx<{ id: string }[]>`
    select id
    from connections
    where workspace_id = ${workspaceId}
      and account_id = ${accountId}
      and id <> ${id}
      and removed_at is null`
  for (const one of [{ id }, ...others]) await scheduleTemplateSync(tx, { workspaceId, id: one.id }, now)
}

/** Deletes one language of a template at the platform. Its name cannot be used again for 30 days. */
export async function deleteTemplate(
  deps: SyncDeps,
  by: Submitter,
  connectionId: string,
  templateId: string,
): Promise<void> {
  const { workspaceId } = by
  const { connection, manager } = await requireManager(deps, workspaceId, connectionId)
  const { name, externalId } = await findListed(deps, workspaceId, connectionId, templateId)
  if (externalId === null) throw notKnownWell()
  const removed = await manager.remove(connection, { name, externalId })
  // Gone already: an earlier deletion whose answer was lost, or one on the platform.
  if (!removed.ok && !goneCodes.has(removed.errorCode)) throw templateCallError(removed)
  await deps.db.tx(async (tx) => {
    const now = deps.clock.now()
    await removeTemplate(tx, connection, templateId)
    await deleteDraftsOf(tx, { workspaceId, connectionId }, templateId)
    const action = 'template.deleted'
    await recordAudit(tx, { scopeId: workspaceId, actor: by.actor, action, target: `template:${templateId}` }, now)
    await scheduleSyncOfAccount(tx, connection, now)
  })
}

/** The platform's subcode for a template that was not found. */
const goneCodes: ReadonlySet<string> = new Set(['2593002'])
