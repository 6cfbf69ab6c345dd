import type { Static } from 'typebox'
import { conflict, notFound, tooManyRequests, unprocessable } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import { compileCheck } from '../../base/validation.ts'
import { refuseIfFull } from '../../workspaces/owned-list.ts'
import { adapterOf } from '../adapter.ts'
import { type Connection, isInSetup, stillInSetup } from '../connection/connection.ts'
import { requireConnection } from '../connection/queries.ts'
import type { FileToUpload } from '../media-transport.ts'
import type { SyncDeps } from './sync-templates.ts'
import { contentOf } from './template-components.ts'
import { contentSchema, emptyContent, isFileHeader, type TemplateContent } from './template-content.ts'
import {
  deleteDraft,
  draftList,
  findDraftOf,
  insertDraft,
  requireDraft,
  type TemplateDraft,
  updateDraft,
} from './template-drafts.ts'
import { editRefused, foreignParts, managedElsewhere, templateCallError } from './template-errors.ts'
import type { TemplateManager } from './template-manager.ts'
import { findEditProblem } from './template-rules.ts'
import type { draftStartSchema } from './template-schema.ts'
import { listTemplates, type ReviewedTemplate } from './templates.ts'

/** A connection whose templates can be written here. */
export interface ManagedConnection {
  connection: Connection
  manager: TemplateManager
}

/** Returns a connection with what manages its templates. Throws 404, and 409 if they are managed elsewhere. */
export async function requireManager(deps: SyncDeps, workspaceId: string, id: string): Promise<ManagedConnection> {
  const connection = await requireConnection(deps, workspaceId, id)
  const manager = adapterOf(deps.adapters, connection).templates
  if (manager === undefined) throw managedElsewhere()
  if (isInSetup(connection)) throw stillInSetup()
  return { connection, manager }
}

/**
 * Creates a draft. A change of a template has one draft, which is returned if it exists. The texts of a template are read
 * from the platform, which alone has its sample values.
 */
export async function createDraft(
  deps: SyncDeps,
  workspaceId: string,
  { connectionId, templateId, isCopy = false, language = emptyContent.language }: Static<typeof draftStartSchema>,
): Promise<TemplateDraft> {
  const managed = await requireManager(deps, workspaceId, connectionId)
  if (templateId === undefined) {
    return storeDraft(deps, workspaceId, { connectionId, templateId: null }, { ...emptyContent, language })
  }
  const template = await findListed(deps, workspaceId, connectionId, templateId)
  if (isCopy) {
    const content = await readContent(managed, template)
    const copy = { ...content, name: `${content.name.slice(0, 507)}_copy` }
    return storeDraft(deps, workspaceId, { connectionId, templateId: null }, copy)
  }
  const existing = await deps.keyStore.withKeyring(workspaceId, (keyring) =>
    findDraftOf(deps.db.sql, keyring, workspaceId, templateId),
  )
  if (existing !== undefined) return existing
  const problem = findEditProblem(template, null, deps.clock.now())
  if (problem !== null) throw editRefused(problem)
  return storeDraft(deps, workspaceId, { connectionId, templateId }, await readContent(managed, template))
}

export async function findListed(
  { db }: SyncDeps,
  workspaceId: string,
  connectionId: string,
  templateId: string,
): Promise<ReviewedTemplate> {
  const all = await listTemplates(db.sql, { workspaceId, id: connectionId })
  const found = all.find(({ id }) => id === templateId)
  if (found === undefined) throw notFound('Template not found')
  return found
}

const checkContent = compileCheck(contentSchema)

async function readContent(
  { connection, manager }: ManagedConnection,
  one: ReviewedTemplate,
): Promise<TemplateContent> {
  const found = await manager.find(connection, one.name, one.language)
  if (!found.ok) throw templateCallError(found)
  if (found.template === null) throw notFound('Template not found')
  const content = contentOf(found.template)
  // A draft has limits, and the platform's answer could be larger.
  if (content === null || checkContent(content, '').length > 0) throw foreignParts()
  return content
}

async function storeDraft(
  { db, keyStore, clock }: SyncDeps,
  workspaceId: string,
  of: { connectionId: string; templateId: string | null },
  content: TemplateContent,
): Promise<TemplateDraft> {
  const now = clock.now()
  const draft: TemplateDraft = {
    ...{ workspaceId, id: newId(now), ...of, content, file: null },
    ...{ version: 1, submittingUntil: null, isTried: false, createdAt: now, updatedAt: now },
  }
  return keyStore.withKeyring(workspaceId, (keyring) =>
    db.tx(async (tx) => {
      // Locks the workspace: two that begin the same change at once get the same draft.
      await refuseIfFull(tx, draftList, workspaceId, null)
      const { templateId } = of
      const existing = templateId === null ? undefined : await findDraftOf(tx, keyring, workspaceId, templateId)
      if (existing === undefined) await insertDraft(tx, keyring, draft)
      return existing ?? draft
    }),
  )
}

/** Returns a draft. Throws 404 if there is none. */
export const readDraft = ({ db, keyStore }: SyncDeps, workspaceId: string, id: string): Promise<TemplateDraft> =>
  keyStore.withKeyring(workspaceId, (keyring) => requireDraft(db.sql, keyring, workspaceId, id))

/** Stores the content of a draft. Throws 409 if someone else has changed it since `version`, or submits it. */
export async function saveDraft(
  deps: SyncDeps,
  workspaceId: string,
  id: string,
  { content, version }: { content: TemplateContent; version: number },
): Promise<TemplateDraft> {
  return changeDraft(deps, workspaceId, id, (draft) => {
    if (draft.version !== version) {
      throw conflict('Someone else has changed this draft. Reload it.', { code: 'DRAFT_CHANGED' })
    }
    // A file belongs to the header for which it was uploaded.
    const file = draft.file?.type === content.header.type ? draft.file : null
    return { ...draft, content, file }
  })
}

async function changeDraft(
  { db, keyStore, clock }: SyncDeps,
  workspaceId: string,
  id: string,
  change: (draft: TemplateDraft) => TemplateDraft,
): Promise<TemplateDraft> {
  return keyStore.withKeyring(workspaceId, (keyring) =>
    db.tx(async (tx) => {
      const now = clock.now()
      const draft = await requireDraft(tx, keyring, workspaceId, id, 'for update')
      refuseWhileSubmitted(draft, now)
      const changed = { ...change(draft), version: draft.version + 1, updatedAt: now }
      await updateDraft(tx, keyring, changed)
      return changed
    }),
  )
}

/** Throws 409 while a submission of the draft is under way. */
export function refuseWhileSubmitted({ submittingUntil }: TemplateDraft, now: Date): void {
  if (submittingUntil === null || submittingUntil <= now) return
  throw conflict('This template is being submitted. Wait a moment.', { code: 'BEING_SUBMITTED' })
}

/** Deletes a draft. Throws 409 while it is being submitted. */
export async function removeDraft(deps: SyncDeps, workspaceId: string, id: string): Promise<void> {
  const { db, keyStore, clock } = deps
  await keyStore.withKeyring(workspaceId, (keyring) =>
    db.tx(async (tx) => {
      refuseWhileSubmitted(await requireDraft(tx, keyring, workspaceId, id, 'for update'), clock.now())
      await deleteDraft(tx, workspaceId, id)
    }),
  )
}

/** Sample files that the platform accepts. */
export const sampleTypes: Readonly<Record<string, readonly string[]>> = {
  image: ['image/jpeg', 'image/png'],
  video: ['video/mp4'],
  document: ['application/pdf'],
}
export const maxSampleBytes = 16 * 1024 * 1024
const uploadMs = 120_000

// One at a time for each workspace and process: they pass through without being stored.
const uploading = new Set<string>()

/** Uploads a sample file to the platform for the header of a draft. */
export async function uploadSampleFile(
  deps: SyncDeps,
  workspaceId: string,
  id: string,
  file: Pick<FileToUpload, 'name' | 'mimeType' | 'size' | 'bytes'>,
): Promise<TemplateDraft> {
  const { content, connectionId } = await readDraft(deps, workspaceId, id)
  const { type } = content.header
  if (!isFileHeader(type)) throw conflict('The header of this draft has no file', { field: 'header.type' })
  const types = sampleTypes[type] ?? []
  if (!types.includes(file.mimeType)) {
    throw unprocessable(`The sample of this header must be one of ${types.join(', ')}`, { code: 'WRONG_FILE' })
  }
  if (uploading.has(workspaceId)) {
    throw tooManyRequests('Another sample file is being uploaded. Wait a moment.', 5, { code: 'RATE_LIMITED' })
  }
  uploading.add(workspaceId)
  try {
    const { connection, manager } = await requireManager(deps, workspaceId, connectionId)
    const uploaded = await manager.uploadSample(connection, file, AbortSignal.timeout(uploadMs))
    if (!uploaded.ok) {
      const error = templateCallError(uploaded)
      if (uploaded.outcome !== 'refused' || !hasNoAppId(connection)) throw error
      throw unprocessable(`${error.message}. Enter the app id in the settings of the connection, or check the token.`, {
        ...error.data,
        code: 'APP_ID_NEEDED',
      })
    }
    const { handle } = uploaded
    return await changeDraft(deps, workspaceId, id, (draft) => ({ ...draft, file: { handle, type, name: file.name } }))
  } finally {
    uploading.delete(workspaceId)
  }
}

const hasNoAppId = ({ settings }: Connection): boolean => !('appId' in settings) || settings.appId == null
