import type { Clock } from '../../base/clock.ts'
import type { Db, Sql, Tx } from '../../base/db.ts'
import { instanceScope, type KeyStore } from '../../base/encryption/key-store.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { type DueWatch, watchDueWork } from '../../base/pubsub.ts'
import type { Language } from '../../base/text/languages.ts'
import { type MailItem, notificationsMail } from '../../mail/mail-texts.ts'
import { recordMail } from '../../mail/mails.ts'
import { type Notification, notificationColumns } from '../notifications.ts'
import { defaultSettings, isQuiet, readSettingsOf } from '../preferences.ts'
import { describeNotification, type NotificationNames, type ResolveNames } from '../push/push.ts'
import { type MailSubscription, unsubscribeUrl } from './unsubscribe.ts'

/** A person who gets mail about a workspace. */
export interface Recipient {
  email: string
  language: Language
  workspaceName: string
}

export interface NotificationMailDeps {
  db: Db
  keyStore: KeyStore
  clock: Clock
  /** Base of links, without a trailing slash. */
  publicUrl: string
  resolveNames: ResolveNames
  /** Returns the members among these people, by id. */
  findRecipients(workspaceId: string, userIds: readonly string[]): Promise<Map<string, Recipient>>
}

/** People per run. */
const batchSize = 100
/** Notifications that a mail lists; it counts the others. */
const maxListed = 20
const pollEveryMs = 30_000
const quietRecheckMs = 15 * 60_000
/** Age at which a notification is not mailed any more, as after an outage or quiet days. */
const maxAgeMs = 24 * 3_600_000
const mailLifeMs = 24 * 3_600_000

/** Watches for notifications to mail. They become due minutes after they are recorded, so polling is enough. */
export function watchNotificationMails({ db, clock }: Pick<NotificationMailDeps, 'db' | 'clock'>): DueWatch {
  const nextAt = async () => {
    const [row] = await db.sql<{ at: Date | null }[]>`
      select min(mail_at) as at
      from notices`
    return row?.at ?? null
  }
  return watchDueWork({ db, clock }, { nextAt, pollEveryMs })
}

/**
 * Records mails about notifications that are still unread, one per person for all that are due. In quiet hours they
 * wait. Returns the number of people.
 */
export async function mailNotifications(deps: NotificationMailDeps): Promise<number> {
  const { db, clock } = deps
  const due = await db.sql<{ workspaceId: string; userId: string }[]>`
    select workspace_id as "workspaceId", user_id as "userId"
    from notices
    where mail_at <= ${clock.now()}
    group by workspace_id, user_id
    order by min(mail_at)
    limit ${batchSize}`
  for (const [workspaceId, people] of Map.groupBy(due, (one) => one.workspaceId)) {
    await mailInWorkspace(
      deps,
      workspaceId,
      people.map(({ userId }) => userId),
    )
  }
  return due.length
}

async function mailInWorkspace(deps: NotificationMailDeps, workspaceId: string, userIds: string[]): Promise<void> {
  const { db, keyStore, clock } = deps
  const now = clock.now()
  const [settings, recipients, instanceKeys] = await Promise.all([
    readSettingsOf(db.sql, workspaceId, userIds),
    deps.findRecipients(workspaceId, userIds),
    keyStore.keyring(instanceScope),
  ])
  for (const userId of userIds) {
    const { quiet } = settings.get(userId) ?? defaultSettings
    const recipient = recipients.get(userId)
    if (quiet !== null && isQuiet(quiet, now)) {
      await db.statement((tx) => postpone(tx, workspaceId, userId, now))
    } else {
      await mailPerson(deps, instanceKeys, { workspaceId, userId, recipient, now })
    }
  }
}

interface Mailing {
  workspaceId: string
  userId: string
  recipient: Recipient | undefined
  now: Date
}

async function mailPerson(deps: NotificationMailDeps, instanceKeys: Keyring, mailing: Mailing): Promise<void> {
  const { workspaceId, userId, recipient, now } = mailing
  const listed = await listDue(deps.db.sql, mailing)
  const names = await deps.resolveNames(workspaceId, listed)
  const itemOf = new Map(
    listed.map((one, n) => [one.id, itemFor(deps.publicUrl, workspaceId, one, names[n], recipient?.language ?? 'en')]),
  )
  await deps.db.tx(async (tx) => {
    const claimed = await claimDue(tx, workspaceId, userId, now)
    const fresh = claimed.filter(({ createdAt }) => now.getTime() - createdAt.getTime() < maxAgeMs)
    // The newest first, of those that are still unread and were claimed here.
    const items = fresh.flatMap(({ id }) => itemOf.get(id) ?? [])
    const [first] = fresh
    if (recipient === undefined || first === undefined || items.length === 0) return
    const mail = {
      workspace: recipient.workspaceName,
      items,
      count: fresh.length,
      stop: stopLinks(deps.publicUrl, instanceKeys, { workspaceId, userId, kind: 'notifications' }),
    }
    const content = { ...notificationsMail(recipient.language, mail), to: recipient.email }
    const expiresAt = new Date(now.getTime() + mailLifeMs)
    const cause = `notifications:${first.id}`
    await recordMail(tx, instanceKeys, { kind: 'notifications', cause, workspaceId, userId, content, expiresAt }, now)
  })
}

/** The line of a notification: who did what. Without names, phones and words of customers, as mail is not secret. */
function itemFor(
  publicUrl: string,
  workspaceId: string,
  notification: Notification,
  names: NotificationNames | undefined,
  language: Language,
): MailItem {
  const { title, url } = describeNotification(workspaceId, notification, names, language, false)
  return { text: title, url: publicUrl + url }
}

export const preferencesUrl = (publicUrl: string, workspaceId: string): string =>
  `${publicUrl}/w/${workspaceId}/profile#notifications`

export const stopLinks = (publicUrl: string, instanceKeys: Keyring, subscription: MailSubscription) => ({
  preferencesUrl: preferencesUrl(publicUrl, subscription.workspaceId),
  unsubscribeUrl: unsubscribeUrl(publicUrl, instanceKeys, subscription),
})

function listDue(sql: Sql, { workspaceId, userId, now }: Mailing): Promise<Notification[]> {
  return sql<Notification[]>`
    select ${notificationColumns(sql)}
    from notices n
    where n.workspace_id = ${workspaceId}
      and n.user_id = ${userId}
      and n.mail_at <= ${now}
    order by n.created_at desc, n.id desc
    limit ${maxListed}`
}

/** Claims the person's due notifications, newest first: another process that does the same gets none. */
async function claimDue(
  tx: Tx,
  workspaceId: string,
  userId: string,
  now: Date,
): Promise<Pick<Notification, 'id' | 'createdAt'>[]> {
  const claimed = await tx<Pick<Notification, 'id' | 'createdAt'>[]>`
    update notices
    set mail_at = null
    where workspace_id = ${workspaceId}
      and user_id = ${userId}
      and mail_at <= ${now}
    returning id, created_at as "createdAt"`
  return claimed.sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime() || (a.id < b.id ? 1 : -1))
}

async function postpone(tx: Tx, workspaceId: string, userId: string, now: Date): Promise<void> {
  await tx`
    update notices
    set mail_at = ${new Date(now.getTime() + quietRecheckMs)}
    where workspace_id = ${workspaceId}
      and user_id = ${userId}
      and mail_at <= ${now}`
}
