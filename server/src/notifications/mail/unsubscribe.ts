import { timingSafeEqual } from 'node:crypto'
import type { Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { isUuid } from '../../base/id.ts'
import { cancelMailsOf } from '../../mail/mails.ts'
import { type StoredPreferences, withDefaults } from '../notification-kinds.ts'

const subscribedKinds = ['notifications', 'digest', 'report'] as const
type SubscribedKind = (typeof subscribedKinds)[number]

/** Mails that their reader can stop, without signing in. */
export interface MailSubscription {
  workspaceId: string
  userId: string
  kind: SubscribedKind
}

export const unsubscribePath = '/unsubscribe'
const maxTokenLength = 200

/** Returns the signed link of a mail that stops further ones (RFC 8058). It works as long as the person is a member. */
export function unsubscribeUrl(publicUrl: string, instanceKeys: Keyring, subscription: MailSubscription): string {
  return `${publicUrl}${unsubscribePath}?token=${tokenOf(instanceKeys, subscription)}`
}

function tokenOf(instanceKeys: Keyring, { kind, workspaceId, userId }: MailSubscription): string {
  const said = `${kind}.${workspaceId}.${userId}`
  return `${said}.${instanceKeys.stable('mail.unsubscribe', said).toString('base64url')}`
}

/** Returns what a link stops; null if it was altered. */
export function readUnsubscribeToken(instanceKeys: Keyring, token: string): MailSubscription | null {
  if (token.length > maxTokenLength) return null
  const [said, workspaceId = '', userId = ''] = token.split('.')
  const kind = subscribedKinds.find((one) => one === said)
  if (kind === undefined || !isUuid(workspaceId) || !isUuid(userId)) return null
  const subscription = { kind, workspaceId, userId }
  const [given, wanted] = [Buffer.from(token), Buffer.from(tokenOf(instanceKeys, subscription))]
  return given.length === wanted.length && timingSafeEqual(given, wanted) ? subscription : null
}

/** Turns off the digest, all weekly reports, or mail about every kind of notification; drops what is not sent yet. Repeating changes nothing. */
export async function unsubscribe(tx: Tx, { workspaceId, userId, kind }: MailSubscription): Promise<void> {
  if (kind === 'digest') {
    await tx`
      update notice_settings
      set digest = null,
        digest_at = null
      where workspace_id = ${workspaceId}
        and user_id = ${userId}`
  } else if (kind === 'report') {
    await tx`
      delete from report_mails
      where workspace_id = ${workspaceId}
        and user_id = ${userId}`
  } else await stopNotificationMails(tx, workspaceId, userId)
  await cancelMailsOf(tx, workspaceId, userId, kind)
}

async function stopNotificationMails(tx: Tx, workspaceId: string, userId: string): Promise<void> {
  const [row] = await tx<{ ways: StoredPreferences }[]>`
    select ways
    from notice_settings
    where workspace_id = ${workspaceId}
      and user_id = ${userId}
    for update`
  // Mail is off by default.
  if (row === undefined) return
  const kinds = Object.entries(withDefaults(row.ways)).map(([name, ways]) => [name, { ...ways, mail: false }])
  await tx`
    update notice_settings
    set ways = ${tx.json(Object.fromEntries(kinds))}
    where workspace_id = ${workspaceId}
      and user_id = ${userId}`
  await tx`
    update notices
    set mail_at = null
    where workspace_id = ${workspaceId}
      and user_id = ${userId}
      and mail_at is not null`
}
