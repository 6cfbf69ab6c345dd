import type { Fragment, Sql, Tx } from '../base/db.ts'
import type { KeyStore } from '../base/encryption/key-store.ts'
import type { Keyring } from '../base/encryption/keyring.ts'
import { createMentionTest, createStep, type ErasureScope, type ErasureStep } from '../base/erasure.ts'
import { type ApiError, conflict, notFound } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import { createMask } from '../base/phone/mask.ts'
import { recordAudit } from '../team/audit.ts'
import type { Member } from '../team/member.ts'
import { deleteItem, type OwnedList, refuseIfFull } from '../workspaces/owned-list.ts'
import { type Article, type ArticleFields, articleList, limits } from './article.ts'
import { authorOf, insertArticle, type KnowledgeDeps } from './write-article.ts'

/** What was said in a conversation, oldest first. */
export interface ConversationText {
  conversationId: string
  isResolved: boolean
  customerName: string | null
  messages: readonly { isCustomer: boolean; text: string }[]
}

export interface DraftDeps extends KnowledgeDeps {
  keyStore: KeyStore
  /** Reads a conversation as people see it. Throws 404. */
  readConversation(workspaceId: string, conversationId: string): Promise<ConversationText>
  /** Keeps a conversation from being erased until the transaction ends; returns whether it still exists. */
  lockConversation(tx: Tx, keyring: Keyring, workspaceId: string, conversationId: string): Promise<boolean>
}

/** An article made of a conversation, before a person publishes it. */
export interface KnowledgeDraft {
  id: string
  conversationId: string
  title: string
  body: string
  createdAt: Date
}

type DraftRow = Pick<KnowledgeDraft, 'id' | 'conversationId' | 'createdAt'> & { content: Buffer }

const draftList: OwnedList = {
  item: 'knowledge_draft',
  table: (sql) => sql`knowledge_drafts`,
  maxItems: 200,
  fullMessage: 'A workspace has at most 200 drafts from conversations. Publish or discard some first.',
  notFoundMessage: 'Draft not found',
}

export const maxDrafts = draftList.maxItems
const draftNotFound = (): ApiError => notFound(draftList.notFoundMessage)

/**
 * Makes a draft of a resolved conversation, without phone numbers, e-mail addresses and the customer's name. Returns the
 * existing one if there is one. Throws 404, and 409 if the conversation is not resolved or has no text.
 */
export async function createConversationDraft(
  { db, clock, keyStore, readConversation, lockConversation }: DraftDeps,
  by: Member,
  conversationId: string,
): Promise<KnowledgeDraft> {
  const { workspaceId, actor } = by
  const read = await readConversation(workspaceId, conversationId)
  if (!read.isResolved) throw conflict('The conversation is not resolved yet', { code: 'NOT_RESOLVED' })
  const text = writeDraft(read)
  if (text === null) throw conflict('The conversation has no text to write an article of', { code: 'NO_TEXT' })
  return keyStore.withKeyring(workspaceId, (keyring) =>
    db.tx(async (tx) => {
      // Erased while it was read.
      if (!(await lockConversation(tx, keyring, workspaceId, read.conversationId)))
        throw notFound('Conversation not found')
      await refuseIfFull(tx, draftList, workspaceId, null)
      const [known] = await selectDrafts(tx, keyring, workspaceId, tx`and conversation_id = ${read.conversationId}`)
      if (known !== undefined) return known
      const now = clock.now()
      const draft = { id: newId(now), conversationId: read.conversationId, ...text, createdAt: now }
      await tx`
        insert into knowledge_drafts (workspace_id, id, conversation_id, content, created_at, actor_type, actor_id)
        values (
          ${workspaceId}, ${draft.id}, ${draft.conversationId},
          ${keyring.encrypt(placeOf(draft.id), JSON.stringify(text))}, ${now}, ${actor.type}, ${actor.id}
        )`
      await recordDraft(tx, by, draft.id, 'created', now)
      return draft
    }),
  )
}

const separator = '\n\n'
/** Texts beyond this are left out: an article answers one question. */
const maxMessages = 60

/** Returns title and text of a draft; null without text of both sides. */
export function writeDraft({ customerName, messages }: ConversationText): { title: string; body: string } | null {
  const mask = personalDataMask(customerName)
  const parts: { isCustomer: boolean; texts: string[] }[] = []
  for (const { isCustomer, text } of messages.slice(-maxMessages)) {
    const words = mask(text).trim()
    if (words === '') continue
    const last = parts.at(-1)
    if (last?.isCustomer === isCustomer) last.texts.push(words)
    else parts.push({ isCustomer, texts: [words] })
  }
  const [question] = parts.filter(({ isCustomer }) => isCustomer)
  if (question === undefined || !parts.some(({ isCustomer }) => !isCustomer)) return null
  const [firstLine = ''] = (question.texts.toSorted((a, b) => b.length - a.length)[0] ?? '').split('\n')
  const body = parts.map(({ isCustomer, texts }) => {
    const text = texts.join(separator)
    return isCustomer ? text.replaceAll(/^/gm, '> ') : text
  })
  return {
    title: firstLine.slice(0, limits.title).toWellFormed(),
    body: body.join(separator).slice(0, limits.body).toWellFormed(),
  }
}

// Bounded repetitions: customers write the text.
const email = /[\p{L}\p{N}._%+-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,5}/gu

/** Returns a function that replaces phone numbers, e-mail addresses and the words of the customer's name. */
export function personalDataMask(customerName: string | null): (text: string) => string {
  const phones = createMask(null)
  const names = new Set((customerName ?? '').toLowerCase().match(/[\p{L}\p{M}]{3,}/gu) ?? [])
  const withoutName = (text: string) =>
    names.size === 0
      ? text
      : text.replaceAll(/[\p{L}\p{M}]+/gu, (word) => (names.has(word.toLowerCase()) ? '***' : word))
  return (text) => withoutName(phones.text(text.replaceAll(email, '***')))
}

/** Returns all drafts, newest first. */
export function listDrafts({ db, keyStore }: DraftDeps, workspaceId: string): Promise<KnowledgeDraft[]> {
  return keyStore.withKeyring(workspaceId, (keyring) => selectDrafts(db.sql, keyring, workspaceId, db.sql``))
}

export async function findDraft({ db, keyStore }: DraftDeps, workspaceId: string, id: string): Promise<KnowledgeDraft> {
  const [draft] = await keyStore.withKeyring(workspaceId, (keyring) =>
    selectDrafts(db.sql, keyring, workspaceId, db.sql`and id = ${id}`),
  )
  if (draft === undefined) throw draftNotFound()
  return draft
}

/** `condition` is SQL after that of the workspace. */
async function selectDrafts(
  sql: Sql,
  keyring: Keyring,
  workspaceId: string,
  condition: Fragment,
): Promise<KnowledgeDraft[]> {
  const rows = await sql<DraftRow[]>`
    select id, conversation_id as "conversationId", content, created_at as "createdAt"
    from knowledge_drafts
    where workspace_id = ${workspaceId}
      ${condition}
    order by id desc`
  return rows.map(({ content, ...row }) => ({
    ...row,
    ...(JSON.parse(keyring.decryptText(placeOf(row.id), content)) as Pick<KnowledgeDraft, 'title' | 'body'>),
  }))
}

/** Publishes what a person has made of a draft, and removes the draft. Throws 404 if someone else has decided. */
export async function publishDraft(
  { db, clock }: DraftDeps,
  by: Member,
  id: string,
  fields: ArticleFields,
): Promise<Article> {
  return db.tx(async (tx) => {
    await refuseIfFull(tx, articleList, by.workspaceId, null)
    const now = clock.now()
    const removed = await tx`
      delete from knowledge_drafts
      where workspace_id = ${by.workspaceId}
        and id = ${id}`
    if (removed.count === 0) throw draftNotFound()
    await recordDraft(tx, by, id.toLowerCase(), 'published', now)
    const article = { fields, status: 'published' as const, source: 'conversation' as const, sourceAddress: null }
    return insertArticle(tx, authorOf(by), article, now)
  })
}

export function discardDraft({ db, clock }: DraftDeps, by: Member, id: string): Promise<void> {
  return db.tx((tx) => deleteItem(tx, draftList, { by, id, now: clock.now() }))
}

function recordDraft(tx: Tx, { workspaceId, actor }: Member, id: string, what: string, now: Date): Promise<void> {
  const { item } = draftList
  return recordAudit(tx, { scopeId: workspaceId, actor, action: `${item}.${what}`, target: `${item}:${id}` }, now)
}

const placeOf = (row: string) => ({ table: 'knowledge_drafts', row, column: 'content' })

/** Erases drafts of the customer's conversations, and those that mention the customer. */
export async function eraseKnowledgeDrafts(
  tx: Tx,
  { workspaceId, keyring, customer }: ErasureScope,
): Promise<ErasureStep> {
  const mentions = createMentionTest(customer)
  const conversations = new Set([...customer.conversationIds, ...customer.mergedIds])
  const drafts = await selectDrafts(tx, keyring, workspaceId, tx``)
  const ids = drafts
    .filter((draft) => conversations.has(draft.conversationId) || mentions(draft.title) || mentions(draft.body))
    .map(({ id }) => id)
  if (ids.length === 0) return createStep({}, false)
  await tx`
    delete from knowledge_drafts
    where workspace_id = ${workspaceId}
      and id = any (${ids}::uuid[])`
  return createStep({ knowledgeDrafts: ids.length }, false)
}
