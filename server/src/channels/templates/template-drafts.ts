import type { Fragment, Sql, Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { createMentionTest, createStep, type ErasureScope, type ErasureStep } from '../../base/erasure.ts'
import { notFound } from '../../base/errors.ts'
import type { OwnedList } from '../../workspaces/owned-list.ts'
import type { TemplateContent } from './template-content.ts'

/** A template that is being written. */
export interface TemplateDraft {
  workspaceId: string
  id: string
  connectionId: string
  /** The template that it changes; null for a new one. */
  templateId: string | null
  content: TemplateContent
  file: SampleFile | null
  /** Counts changes. */
  version: number
  submittingUntil: Date | null
  /** A submission was sent and its answer was lost. */
  isTried: boolean
  createdAt: Date
  updatedAt: Date
}

/** Sample file of a header, uploaded to the platform. */
export interface SampleFile {
  handle: string
  /** Type of the header for which it was uploaded. */
  type: string
  name: string | null
}

type DraftRow = Omit<TemplateDraft, 'content' | 'file'> & { content: Buffer }

export const draftList: OwnedList = {
  item: 'template_draft',
  table: (sql) => sql`template_drafts`,
  maxItems: 200,
  fullMessage: 'A workspace has at most 200 drafts of templates. Delete one first.',
  notFoundMessage: 'Draft not found',
}

const columns = (sql: Sql) => sql`
  d.workspace_id as "workspaceId", d.id, d.connection_id as "connectionId", d.template_id as "templateId", d.content,
  d.version, d.submitting_until as "submittingUntil", d.is_tried as "isTried", d.created_at as "createdAt",
  d.updated_at as "updatedAt"`

/** Returns drafts of the workspace, filtered by the SQL in `more`. */
async function select(sql: Sql, keyring: Keyring, workspaceId: string, more: Fragment): Promise<TemplateDraft[]> {
  const rows = await sql<DraftRow[]>`
    select ${columns(sql)}
    from template_drafts d
    where d.workspace_id = ${workspaceId}
      ${more}`
  return rows.map((row) => decryptDraft(keyring, row))
}

/** Returns all drafts of a workspace, newest first. */
export const listDrafts = (sql: Sql, keyring: Keyring, workspaceId: string): Promise<TemplateDraft[]> =>
  select(sql, keyring, workspaceId, sql`order by d.updated_at desc, d.id`)

/** Returns a draft, optionally locked until the transaction ends. Throws 404 if there is none. */
export async function requireDraft(
  sql: Sql,
  keyring: Keyring,
  workspaceId: string,
  id: string,
  lock?: 'for update',
): Promise<TemplateDraft> {
  const locked = lock === undefined ? sql`` : sql`for update`
  const [draft] = await select(sql, keyring, workspaceId, sql`and d.id = ${id} ${locked}`)
  if (draft === undefined) throw notFound(draftList.notFoundMessage)
  return draft
}

/** Returns the draft that changes a template, if there is one. */
export async function findDraftOf(
  sql: Sql,
  keyring: Keyring,
  workspaceId: string,
  templateId: string,
): Promise<TemplateDraft | undefined> {
  const [draft] = await select(sql, keyring, workspaceId, sql`and d.template_id = ${templateId}`)
  return draft
}

export async function insertDraft(tx: Tx, keyring: Keyring, draft: TemplateDraft): Promise<void> {
  await tx`
    insert into template_drafts (
      workspace_id, id, connection_id, template_id, content, version, submitting_until, is_tried, created_at, updated_at
    )
    values (
      ${draft.workspaceId}, ${draft.id}, ${draft.connectionId}, ${draft.templateId}, ${encryptDraft(keyring, draft)},
      ${draft.version}, ${draft.submittingUntil}, ${draft.isTried}, ${draft.createdAt}, ${draft.updatedAt}
    )`
}

/** Stores a locked draft. */
export async function updateDraft(tx: Tx, keyring: Keyring, draft: TemplateDraft): Promise<void> {
  await tx`
    update template_drafts
    set content = ${encryptDraft(keyring, draft)},
      version = ${draft.version},
      submitting_until = ${draft.submittingUntil},
      is_tried = ${draft.isTried},
      updated_at = ${draft.updatedAt}
    where workspace_id = ${draft.workspaceId}
      and id = ${draft.id}`
}

export async function deleteDraft(tx: Tx, workspaceId: string, id: string): Promise<void> {
  await tx`
    delete from template_drafts
    where workspace_id = ${workspaceId}
      and id = ${id}`
}

/** Deletes the drafts of a removed connection, or those that change one of its templates. */
export async function deleteDraftsOf(
  tx: Tx,
  { workspaceId, connectionId }: { workspaceId: string; connectionId: string },
  templateId: string | null = null,
): Promise<void> {
  await tx`
    delete from template_drafts
    where workspace_id = ${workspaceId}
      and connection_id = ${connectionId}
      and (${templateId}::uuid is null or template_id = ${templateId}::uuid)`
}

/** Erases drafts with the customer's phone or e-mail, such as in a sample value. */
export async function eraseTemplateDrafts(
  tx: Tx,
  { workspaceId, keyring, customer }: ErasureScope,
): Promise<ErasureStep> {
  const mentions = createMentionTest(customer)
  const drafts = await listDrafts(tx, keyring, workspaceId)
  const ids = drafts.flatMap(({ id, content }) => (textsOf(content).some(mentions) ? id : []))
  if (ids.length === 0) return createStep({}, false)
  await tx`
    delete from template_drafts
    where workspace_id = ${workspaceId}
      and id = any (${ids}::uuid[])`
  return createStep({ templateDrafts: ids.length }, false)
}

const textsOf = ({ header, body, samples, footer, buttons, otp }: TemplateContent): string[] => [
  ...[header.text, header.sample, body, footer, otp?.buttonText ?? '', otp?.autofillText ?? ''],
  ...samples.map(({ value }) => value),
  ...buttons.flatMap(({ text, value, sample }) => [text, value, sample]),
]

const contentPlace = (row: string) => ({ table: 'template_drafts', row, column: 'content' })

function encryptDraft(keyring: Keyring, { id, content, file }: TemplateDraft): Buffer {
  return keyring.encrypt(contentPlace(id), JSON.stringify({ content, file }))
}

function decryptDraft(keyring: Keyring, row: DraftRow): TemplateDraft {
  const decrypted = JSON.parse(keyring.decryptText(contentPlace(row.id), row.content))
  return { ...row, ...(decrypted as Pick<TemplateDraft, 'content' | 'file'>) }
}
