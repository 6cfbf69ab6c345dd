import type { Db } from '../../base/db.ts'
import { instanceScope } from '../../base/encryption/key-store.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { type DueWatch, watchDueWork } from '../../base/pubsub.ts'
import { createZoneFormat, localDateAt } from '../../base/time.ts'
import { type DigestCounts, digestMail } from '../../mail/mail-texts.ts'
import { recordMail } from '../../mail/mails.ts'
import { countUnreadNotifications } from '../notifications.ts'
import { type DigestTime, isQuietDay, nextDigestAt, type QuietHours } from '../preferences.ts'
import { type NotificationMailDeps, type Recipient, stopLinks } from './notification-mail.ts'

export interface DigestDeps extends NotificationMailDeps {
  /** Counts what waits in the inbox for a person, each number up to `maxCount`. */
  countInbox(workspaceId: string, userId: string, now: Date): Promise<Omit<DigestCounts, 'unread'>>
  maxCount: number
}

interface DueDigest {
  workspaceId: string
  userId: string
  digest: DigestTime
  quiet: QuietHours | null
  digestAt: Date
}

const batchSize = 100
const pollEveryMs = 60_000
/** A digest that is later than this, as after an outage, is skipped: the next one says the same. */
const maxDelayMs = 6 * 3_600_000

export function watchDigests({ db, clock }: Pick<DigestDeps, 'db' | 'clock'>): DueWatch {
  const nextAt = async () => {
    const [row] = await db.sql<{ at: Date | null }[]>`
      select min(digest_at) as at
      from notice_settings`
    return row?.at ?? null
  }
  return watchDueWork({ db, clock }, { nextAt, pollEveryMs })
}

/** Records the daily digests that are due, except on quiet days and if there is nothing. Returns how many were due. */
export async function mailDigests(deps: DigestDeps): Promise<number> {
  const due = await listDue(deps.db, deps.clock.now())
  for (const [workspaceId, digests] of Map.groupBy(due, (one) => one.workspaceId)) {
    const recipients = await deps.findRecipients(
      workspaceId,
      digests.map(({ userId }) => userId),
    )
    for (const digest of digests) await mailDigest(deps, digest, recipients.get(digest.userId))
  }
  return due.length
}

async function mailDigest(deps: DigestDeps, due: DueDigest, recipient: Recipient | undefined): Promise<void> {
  const { db, keyStore, clock } = deps
  const { workspaceId, userId, digest, quiet, digestAt } = due
  const now = clock.now()
  const isWanted = now.getTime() - digestAt.getTime() < maxDelayMs && !(quiet !== null && isQuietDay(quiet, now))
  const counts = isWanted && recipient !== undefined ? await countAll(deps, workspaceId, userId, now) : null
  const instanceKeys = await keyStore.keyring(instanceScope)
  await db.tx(async (tx) => {
    const claimed = await tx`
      update notice_settings
      set digest_at = ${nextDigestAt(digest, now)}
      where workspace_id = ${workspaceId}
        and user_id = ${userId}
        and digest_at = ${digestAt}`
    if (claimed.count === 0 || recipient === undefined || counts === null) return
    const date = localDateAt(createZoneFormat(digest.timeZone), now.getTime())
    const mail = {
      kind: 'digest',
      cause: `digest:${workspaceId}:${userId}:${date}`,
      workspaceId,
      userId,
      content: { ...contentOf(deps, instanceKeys, due, recipient, counts), to: recipient.email },
      expiresAt: new Date(digestAt.getTime() + 2 * maxDelayMs),
    } as const
    await recordMail(tx, instanceKeys, mail, now)
  })
}

/** Returns the numbers; null if all are 0. */
async function countAll(deps: DigestDeps, workspaceId: string, userId: string, now: Date) {
  const [unread, inbox] = await Promise.all([
    countUnreadNotifications(deps.db.sql, workspaceId, userId),
    deps.countInbox(workspaceId, userId, now),
  ])
  const counts = { unread, ...inbox }
  return Object.values(counts).some((n) => n > 0) ? counts : null
}

function contentOf(
  { publicUrl, maxCount }: DigestDeps,
  instanceKeys: Keyring,
  { workspaceId, userId }: DueDigest,
  { language, workspaceName: workspace }: Recipient,
  counts: DigestCounts,
) {
  const inbox = `${publicUrl}/w/${workspaceId}/inbox`
  const urls = {
    unread: inbox,
    waiting: `${publicUrl}/w/${workspaceId}/home`,
    mine: `${inbox}?view=mine`,
    unassigned: `${inbox}?view=unassigned`,
  }
  const stop = stopLinks(publicUrl, instanceKeys, { workspaceId, userId, kind: 'digest' })
  return digestMail(language, { workspace, counts, urls, stop, maxCount })
}

function listDue(db: Db, now: Date): Promise<DueDigest[]> {
  return db.sql<DueDigest[]>`
    select workspace_id as "workspaceId", user_id as "userId", digest, quiet, digest_at as "digestAt"
    from notice_settings
    where digest_at <= ${now}
    order by digest_at
    limit ${batchSize}`
}
