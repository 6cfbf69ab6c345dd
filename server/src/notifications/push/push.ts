import pLimit from 'p-limit'
import { withTimeout } from '../../base/async/loop.ts'
import type { Clock } from '../../base/clock.ts'
import type { Db, Tx } from '../../base/db.ts'
import type { KeyStore } from '../../base/encryption/key-store.ts'
import type { Log } from '../../base/log.ts'
import type { Outgoing } from '../../base/outgoing/guarded-fetch.ts'
import { type DueWatch, watchDueWork } from '../../base/pubsub.ts'
import type { Language } from '../../base/text/languages.ts'
import { type Notification, notificationColumns } from '../notifications.ts'
import { defaultSettings, isQuiet, type NotificationSettings, readSettingsOf } from '../preferences.ts'
import { pushAfterMs } from '../record-notifications.ts'
import { pushText } from './push-texts.ts'
import {
  ensurePushKeys,
  listSubscriptions,
  type PushKeys,
  removeSubscription,
  type Subscription,
} from './subscriptions.ts'

export interface PushDeps {
  db: Db
  keyStore: KeyStore
  clock: Clock
  log: Log
  outgoing: Outgoing
  publicUrl: string
  resolveNames: ResolveNames
}

/** Names of the subjects of a notification; null if they no longer exist. */
export interface NotificationNames {
  actorName: string | null
  contact: { name: string | null; phone: string | null } | null
  connectionName: string | null
}

/** Resolves the names for notifications of a workspace, in their order. */
export type ResolveNames = (workspaceId: string, notices: readonly Notification[]) => Promise<NotificationNames[]>

interface DueNotification extends Notification {
  workspaceId: string
  userId: string
}

const batchSize = 100
const maxConcurrentSends = 10
const maxWorkspaces = 50
/** Milliseconds after which sending continues in the background; healthy push services take less. */
const slowAfterMs = 1_000
const timeoutMs = 10_000
/** Milliseconds after which a notification is not pushed any more, as after an outage. */
const maxDelayMs = 10 * 60_000
/** Seconds that a push service stores a push for an offline browser. */
const ttlSeconds = 4 * 3600
const maxAnswerBytes = 1024

/** Watches for due pushes. Polls more often than `pushAfterMs`, so that no database notifications are needed. */
export function watchPushes({ db, clock }: Pick<PushDeps, 'db' | 'clock'>): DueWatch {
  const nextAt = async () => {
    const [row] = await db.sql<{ at: Date | null }[]>`
      select min(push_at) as at
      from notices`
    return row?.at ?? null
  }
  return watchDueWork({ db, clock }, { nextAt, pollEveryMs: pushAfterMs - 3_000 })
}

/**
 * Creates a function that pushes due, unread notifications to browsers, and returns how many it claimed. Each one is
 * tried once: it is claimed before it is sent, so a crash can lose a push but never repeats one. A workspace with slow
 * push services continues in the background, and is skipped until it is done.
 */
export function createPushSender(deps: PushDeps): () => Promise<number> {
  const busy = new Map<string, Promise<void>>()
  const startWorkspace = (keys: PushKeys, workspaceId: string, notices: DueNotification[]): Promise<void> => {
    const work = pushNotifications(deps, keys, workspaceId, notices)
      .catch((error) => deps.log.warn('failed to send push notifications; retrying', { workspaceId }, error))
      .finally(() => busy.delete(workspaceId))
    busy.set(workspaceId, work)
    return work
  }
  return async () => {
    if (busy.size >= maxWorkspaces) return 0
    const due = await claimDue(deps.db, [...busy.keys()], deps.clock.now())
    if (due.length === 0) return 0
    const keys = await ensurePushKeys(deps)
    const started = [...Map.groupBy(due, (one) => one.workspaceId)].map(([id, notices]) =>
      startWorkspace(keys, id, notices),
    )
    await withTimeout(slowAfterMs, () => Promise.all(started)).catch(() => undefined)
    return due.length
  }
}

async function claimDue(db: Db, busy: readonly string[], now: Date): Promise<DueNotification[]> {
  const due = await db.sql<{ workspaceId: string }[]>`
    select workspace_id as "workspaceId"
    from notices
    where push_at <= ${now}
      and workspace_id <> all (${[...busy]}::uuid[])
    order by push_at
    limit ${batchSize}`
  const claimed: DueNotification[] = []
  for (const workspaceId of new Set(due.map((one) => one.workspaceId))) {
    if (claimed.length >= batchSize) break
    try {
      claimed.push(...(await db.statement((tx) => claimDueIn(tx, workspaceId, batchSize - claimed.length, now))))
    } catch (error) {
      // Sends those claimed so far; the next run retries this workspace.
      if (claimed.length === 0) throw error
      break
    }
  }
  return claimed
}

async function claimDueIn(tx: Tx, workspaceId: string, limit: number, now: Date): Promise<DueNotification[]> {
  return tx<DueNotification[]>`
    with due as (
      select user_id, id
      from notices
      where workspace_id = ${workspaceId}
        and push_at <= ${now}
      order by push_at
      limit ${limit}
      for update skip locked
    )
    update notices n
    set push_at = null
    from due
    where n.workspace_id = ${workspaceId}
      and n.user_id = due.user_id
      and n.id = due.id
    returning n.workspace_id as "workspaceId", n.user_id as "userId", ${notificationColumns(tx)}`
}

async function pushNotifications(
  deps: PushDeps,
  keys: PushKeys,
  workspaceId: string,
  claimed: DueNotification[],
): Promise<void> {
  const now = deps.clock.now()
  const users = [...new Set(claimed.map(({ userId }) => userId))]
  const settings = await readSettingsOf(deps.db.sql, workspaceId, users)
  const settingsOf = (userId: string) => settings.get(userId) ?? defaultSettings
  const notices = claimed.filter(
    (one) =>
      one.readAt === null &&
      now.getTime() - one.createdAt.getTime() < maxDelayMs &&
      canNotifyNow(settingsOf(one.userId), now),
  )
  if (notices.length === 0) return
  const [browsers, resolvedNames] = await Promise.all([
    deps.keyStore.withKeyring(workspaceId, (keyring) => listSubscriptions(deps.db.sql, keyring, workspaceId, users)),
    deps.resolveNames(workspaceId, notices),
  ])
  const limit = pLimit(maxConcurrentSends)
  const sends = notices.flatMap((notification, n) =>
    browsers
      .filter(({ userId }) => userId === notification.userId)
      .map((browser) => {
        const payload = payloadOf(
          notification,
          resolvedNames[n],
          browser.language,
          settingsOf(notification.userId).pushNames,
        )
        return limit(() => sendPush(deps, keys, browser, notification, payload))
      }),
  )
  await Promise.all(sends)
}

const canNotifyNow = ({ quiet }: NotificationSettings, now: Date): boolean => quiet === null || !isQuiet(quiet, now)

/** Returns the payload for the service worker. It is neither logged nor stored, and encrypted for the browser. */
function payloadOf(
  notification: DueNotification,
  resolvedNames: NotificationNames | undefined,
  language: Language,
  names: boolean,
): string {
  const { workspaceId, id } = notification
  return JSON.stringify({ id, ...describeNotification(workspaceId, notification, resolvedNames, language, names) })
}

/** Returns who did what, with the customer's name only if it may be shown, and the page below the public URL. */
export function describeNotification(
  workspaceId: string,
  { kind, count, conversationId, connectionId, reason }: Notification,
  names: NotificationNames | undefined,
  language: Language,
  showsCustomer: boolean,
): { title: string; body: string; url: string } {
  const { actorName: actor = null, connectionName: connection = null, contact = null } = names ?? {}
  const customer = showsCustomer ? (contact?.name ?? null) : null
  const problem = { isLimited: reason !== null, isReached: reason === 'reached' }
  const texts = pushText({ kind, count, actor, customer, connection, ...problem }, language)
  return { ...texts, url: urlOf(workspaceId, conversationId, connectionId) }
}

function urlOf(workspaceId: string, conversationId: string | null, connectionId: string | null): string {
  if (conversationId !== null) return `/w/${workspaceId}/inbox/${conversationId}`
  return connectionId === null ? `/w/${workspaceId}/inbox` : `/w/${workspaceId}/connections/${connectionId}`
}

async function sendPush(
  { db, outgoing, log, publicUrl }: PushDeps,
  keys: PushKeys,
  { id, userId, target }: Subscription,
  { workspaceId, kind }: DueNotification,
  payload: string,
): Promise<void> {
  const { endpoint, p256dh, auth } = target
  const { default: webPush } = await import('web-push')
  const request = webPush.generateRequestDetails({ endpoint, keys: { p256dh, auth } }, payload, {
    vapidDetails: { subject: subjectOf(publicUrl), ...keys },
    TTL: ttlSeconds,
    urgency: kind === 'waiting' ? 'normal' : 'high',
    contentEncoding: 'aes128gcm',
  })
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
  const answer = await outgoing.call({
    method: 'POST',
    url: endpoint,
    headers,
    body: request.body,
    timeoutMs,
    maxAnswerBytes,
  })
  if (answer.outcome === 'answered' && (answer.status === 404 || answer.status === 410)) {
    await db.tx((tx) => removeSubscription(tx, workspaceId, userId, id))
    return
  }
  const isAccepted = answer.outcome === 'answered' && answer.status >= 200 && answer.status < 300
  const why = answer.outcome === 'answered' ? String(answer.status) : answer.code
  if (!isAccepted) log.info('push rejected by the push service', { workspaceId, code: why })
}

/** Returns the VAPID contact for the operators of push services. Some reject a URL that is not public. */
const subjectOf = (publicUrl: string): string =>
  publicUrl.startsWith('https:') ? publicUrl : 'mailto:operator@parley.invalid'
