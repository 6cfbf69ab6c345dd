import { publish, type Sql, type Tx } from '../base/db.ts'
import type { Keyring } from '../base/encryption/keyring.ts'
import { newId } from '../base/id.ts'
import type { MailContent } from './mailer.ts'

/** Why people get mail. */
export type MailKind = 'invitation' | 'sign-in' | 'reset' | 'notifications' | 'digest' | 'report'

export type MailState = 'waiting' | 'sent' | 'refused' | 'expired'

export interface NewMail {
  kind: MailKind
  /** Deduplicates: one mail per person and cause. */
  cause: string
  /** Null for mails that concern no workspace. */
  workspaceId: string | null
  /** Recipient; null if not a user yet. */
  userId: string | null
  content: MailContent
  /** When it is given up. */
  expiresAt: Date
}

/** Published when a mail was recorded; the id is its kind. */
export const mailsTopic = 'mails'

/** Kinds that a person waits for. They are sent first. */
const isAwaited = (kind: MailKind): boolean => kind === 'invitation' || kind === 'sign-in' || kind === 'reset'

/** Unsent mails of a workspace. Further ones are not recorded; the app shows what they would have said. */
export const maxWaiting = 1000

export const contentContext = (id: string) => ({ table: 'mails', row: id, column: 'content' })
export const answerContext = (id: string) => ({ table: 'mails', row: id, column: 'answer' })

/**
 * Records a mail in the transaction of its cause; a worker sends it after the commit. Returns whether it was recorded:
 * not again for the same cause, nor beyond the limit of the workspace. `isReal`: false does the same work for nothing.
 */
export async function recordMail(
  tx: Tx,
  instanceKeys: Keyring,
  { kind, cause, workspaceId, userId, content, expiresAt }: NewMail,
  now: Date,
  isReal = true,
): Promise<boolean> {
  const id = newId(now)
  const encrypted = instanceKeys.encrypt(contentContext(id), JSON.stringify(content))
  const { count } = await tx`
    insert into mails (
      id, kind, cause, workspace_id, user_id, priority, status, content, created_at, expires_at, next_at
    )
    select ${id}::uuid, ${kind}, ${cause}, ${workspaceId}::uuid, ${userId}::uuid, ${isAwaited(kind) ? 0 : 1}::smallint,
      'waiting', ${encrypted}::bytea, ${now}::timestamptz, ${expiresAt}::timestamptz, ${now}::timestamptz
    where ${isReal}
      and (
        select count(*)
        from (
          select
          from mails
          where workspace_id = ${workspaceId}::uuid
            and next_at is not null
          limit ${maxWaiting}
        ) as unsent
      ) < ${maxWaiting}
    on conflict (cause) do nothing`
  if (count > 0) publish(tx, mailsTopic, kind)
  return count > 0
}

/** Deletes unsent mails of these causes, because what they say no longer holds. */
export async function cancelMails(tx: Tx, causes: readonly string[]): Promise<void> {
  await tx`
    delete from mails
    where cause = any (${[...causes]}::text[])
      and next_at is not null`
}

/**
 * Makes room for a mail of the same cause once more, after the earlier one has ended: `sent` before that time only. Returns
 * false if one is waiting or was sent since.
 */
export async function forgetEndedMail(tx: Tx, cause: string, sentBefore: Date): Promise<boolean> {
  const isLeft = await tx<{ isEnded: boolean }[]>`
    select finished_at is not null and (status <> 'sent' or finished_at <= ${sentBefore}) as "isEnded"
    from mails
    where cause = ${cause}
    for update`
  if (isLeft.some(({ isEnded }) => !isEnded)) return false
  await tx`
    delete from mails
    where cause = ${cause}`
  return true
}

/** Deletes unsent mails about a workspace to a person who has left it, or who wants none of a kind. */
export async function cancelMailsOf(tx: Tx, workspaceId: string, userId: string, kind?: MailKind): Promise<void> {
  await tx`
    delete from mails
    where workspace_id = ${workspaceId}
      and user_id = ${userId}
      and next_at is not null
      ${kind === undefined ? tx`` : tx`and kind = ${kind}`}`
}

/** What became of a mail. */
export interface MailStatus {
  status: MailState
  /** The last words of the mail server; null if it has not been tried. */
  answer: string | null
  /** When it ended, or was recorded. */
  at: Date
}

interface StatusRow {
  id: string
  cause: string
  userId: string | null
  status: MailState
  answer: Buffer | null
  at: Date
}

const statusColumns = (sql: Sql) =>
  sql`id, cause, user_id as "userId", status, answer, coalesce(finished_at, created_at) as at`

/** Returns the states of mails by cause. */
export async function readMailsByCause(
  sql: Sql,
  instanceKeys: Keyring,
  causes: readonly string[],
): Promise<Map<string, MailStatus>> {
  if (causes.length === 0) return new Map()
  const rows = await sql<StatusRow[]>`
    select ${statusColumns(sql)}
    from mails
    where cause = any (${[...causes]}::text[])`
  return new Map(rows.map((row) => [row.cause, statusOf(instanceKeys, row)]))
}

/** Returns the last mail of each person that has ended, if it was not delivered. */
export async function readFailedMails(
  sql: Sql,
  instanceKeys: Keyring,
  userIds: readonly string[],
): Promise<Map<string, MailStatus>> {
  const rows = await sql<StatusRow[]>`
    select distinct on (user_id) ${statusColumns(sql)}
    from mails
    where user_id = any (${[...userIds]}::uuid[])
      and finished_at is not null
    order by user_id, finished_at desc`
  const failed = rows.filter(({ status }) => status !== 'sent')
  return new Map(failed.map((row) => [row.userId ?? '', statusOf(instanceKeys, row)]))
}

const statusOf = (keys: Keyring, { id, status, answer, at }: StatusRow): MailStatus => ({
  status,
  answer: answer === null ? null : keys.decryptText(answerContext(id), answer),
  at,
})

const maxCounted = 10_000

/** Returns how many mails wait, of at most 10,000, and since when the oldest of those does. */
export async function readMailBacklog(sql: Sql): Promise<{ waiting: number; oldestAt: Date | null }> {
  const [row] = await sql<{ waiting: number; oldestAt: Date | null }[]>`
    select count(*)::integer as waiting, min(created_at) as "oldestAt"
    from (
      select created_at
      from mails
      where next_at is not null
      limit ${maxCounted}
    ) as unsent`
  return row ?? { waiting: 0, oldestAt: null }
}

const keptDays = 30

/** Deletes mails that ended more than 30 days ago. Their addresses and texts were erased at their end. */
export async function deleteOldMails(tx: Tx, now: Date): Promise<number> {
  const { count } = await tx`
    delete from mails
    where finished_at < ${now}::timestamptz - ${keptDays} * interval '1 day'`
  return count
}
