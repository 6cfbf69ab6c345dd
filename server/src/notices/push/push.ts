import pLimit from 'p-limit'
import webPush from 'web-push'
import { withTimeout } from '../../base/async/loop.ts'
import type { Clock } from '../../base/clock.ts'
import type { Db, Tx } from '../../base/db.ts'
import type { Log } from '../../base/log.ts'
import { type DueWatch, watchDue } from '../../base/news.ts'
import type { Outgoing } from '../../base/outgoing/guarded-fetch.ts'
import type { Vault } from '../../base/sealing/vault.ts'
import { type Notice, noticeColumns } from '../notices.ts'
import { pushAfterMs } from '../record.ts'
import { isQuiet, type NoticeSettings, readSettingsOf, usualSettings } from '../settings.ts'
import {
  ensurePushKeys,
  listSubscriptions,
  type PushKeys,
  removeSubscription,
  type Subscription,
} from './subscriptions.ts'
import { type PushLanguage, wordsOf } from './words.ts'

export interface PushDeps {
  db: Db
  vault: Vault
  clock: Clock
  log: Log
  outgoing: Outgoing
  publicUrl: string
  nameThings: NameThings
}

/** What a notice speaks of, by name; null for what has none any more. */
export interface NamedThings {
  actorName: string | null
  contact: { name: string | null; phone: string | null } | null
  connectionName: string | null
}

/** Looks up what notices of a workspace speak of, in their order. */
export type NameThings = (workspaceId: string, notices: readonly Notice[]) => Promise<NamedThings[]>

interface DueNotice extends Notice {
  workspaceId: string
  userId: string
}

const batch = 100
const sendAtOnce = 10
const mostBusy = 50
/** Push services that are well take less. */
const patienceMs = 1_000
const timeoutMs = 10_000
/** What could not be told in time, as after an outage, is in the bell. */
const lateMs = 10 * 60_000
/** How long a push service keeps it for a browser that is off. */
const keptSeconds = 4 * 3600
const maxAnswerBytes = 1024

/** Whether there is something to tell that has waited for long enough; it is asked within that time, so no news need tell of it. */
export function watchPushes({ db, clock }: Pick<PushDeps, 'db' | 'clock'>): DueWatch {
  const nextAt = async () => {
    const [row] = await db.sql<{ at: Date | null }[]>`
      select min(push_at) as at
      from notices`
    return row?.at ?? null
  }
  return watchDue({ db, clock }, { nextAt, askEveryMs: pushAfterMs - 3_000 })
}

/**
 * Tells the browsers of people what they have not read since it was recorded, and returns how many notices it took. Each notice is
 * tried once: it is taken before it is sent, so that a crash costs a push and never doubles one. A workspace whose browsers are
 * slow to reach is left out until it is done, and nobody waits for it.
 */
export function createPusher(deps: PushDeps): () => Promise<number> {
  const busy = new Map<string, Promise<void>>()
  const begin = (keys: PushKeys, workspaceId: string, notices: DueNotice[]): Promise<void> => {
    const work = pushOf(deps, keys, workspaceId, notices)
      .catch((error) => deps.log.warn('notices not pushed', { workspaceId }, error))
      .finally(() => busy.delete(workspaceId))
    busy.set(workspaceId, work)
    return work
  }
  return async () => {
    if (busy.size >= mostBusy) return 0
    const due = await takeAllDue(deps.db, [...busy.keys()], deps.clock.now())
    if (due.length === 0) return 0
    const keys = await ensurePushKeys(deps)
    const begun = [...Map.groupBy(due, (one) => one.workspaceId)].map(([id, notices]) => begin(keys, id, notices))
    await withTimeout(patienceMs, () => Promise.all(begun)).catch(() => undefined)
    return due.length
  }
}

async function takeAllDue(db: Db, busy: readonly string[], now: Date): Promise<DueNotice[]> {
  const due = await db.sql<{ workspaceId: string }[]>`
    select workspace_id as "workspaceId"
    from notices
    where push_at <= ${now}
      and workspace_id <> all (${[...busy]}::uuid[])
    order by push_at
    limit ${batch}`
  const taken: DueNotice[] = []
  for (const workspaceId of new Set(due.map((one) => one.workspaceId))) {
    if (taken.length >= batch) break
    try {
      taken.push(...(await db.statement((tx) => takeDue(tx, workspaceId, batch - taken.length, now))))
    } catch (error) {
      // What was taken before is told all the same, and the next look comes to this one again.
      if (taken.length === 0) throw error
      break
    }
  }
  return taken
}

async function takeDue(tx: Tx, workspaceId: string, limit: number, now: Date): Promise<DueNotice[]> {
  return tx<DueNotice[]>`
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
    returning n.workspace_id as "workspaceId", n.user_id as "userId", ${noticeColumns(tx)}`
}

async function pushOf(deps: PushDeps, keys: PushKeys, workspaceId: string, taken: DueNotice[]): Promise<void> {
  const now = deps.clock.now()
  const users = [...new Set(taken.map(({ userId }) => userId))]
  const settings = await readSettingsOf(deps.db.sql, workspaceId, users)
  const settingsOf = (userId: string) => settings.get(userId) ?? usualSettings
  const notices = taken.filter(
    (one) =>
      one.readAt === null && now.getTime() - one.createdAt.getTime() < lateMs && maySound(settingsOf(one.userId), now),
  )
  if (notices.length === 0) return
  const [browsers, named] = await Promise.all([
    deps.vault.withKeyring(workspaceId, (keyring) => listSubscriptions(deps.db.sql, keyring, workspaceId, users)),
    deps.nameThings(workspaceId, notices),
  ])
  const limit = pLimit(sendAtOnce)
  const sends = notices.flatMap((notice, n) =>
    browsers
      .filter(({ userId }) => userId === notice.userId)
      .map((browser) => {
        const payload = payloadOf(notice, named[n], browser.language, settingsOf(notice.userId).pushNames)
        return limit(() => send(deps, keys, browser, notice, payload))
      }),
  )
  await Promise.all(sends)
}

const maySound = ({ quiet }: NoticeSettings, now: Date): boolean => quiet === null || !isQuiet(quiet, now)

/** What the service worker shows. It stands in no log and no table: only the browser can open it. */
function payloadOf(notice: DueNotice, named: NamedThings | undefined, language: PushLanguage, names: boolean): string {
  const { workspaceId, id, kind, count, conversationId, connectionId, reason } = notice
  const { actorName: actor = null, connectionName: connection = null, contact = null } = named ?? {}
  const customer = names ? (contact?.name ?? null) : null
  const { title, body } = wordsOf({ kind, count, actor, customer, connection, isLimited: reason !== null }, language)
  return JSON.stringify({ id, title, body, url: placeOf(workspaceId, conversationId, connectionId) })
}

function placeOf(workspaceId: string, conversationId: string | null, connectionId: string | null): string {
  if (conversationId !== null) return `/w/${workspaceId}/inbox/${conversationId}`
  return connectionId === null ? `/w/${workspaceId}/inbox` : `/w/${workspaceId}/connections/${connectionId}`
}

async function send(
  { db, outgoing, log, publicUrl }: PushDeps,
  keys: PushKeys,
  { id, userId, target }: Subscription,
  { workspaceId, kind }: DueNotice,
  payload: string,
): Promise<void> {
  const { endpoint, p256dh, auth } = target
  const request = webPush.generateRequestDetails({ endpoint, keys: { p256dh, auth } }, payload, {
    vapidDetails: { subject: subjectOf(publicUrl), ...keys },
    TTL: keptSeconds,
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
  const isTaken = answer.outcome === 'answered' && answer.status >= 200 && answer.status < 300
  const why = answer.outcome === 'answered' ? String(answer.status) : answer.code
  if (!isTaken) log.info('push not taken', { workspaceId, code: why })
}

/** Whom a push service turns to when something is wrong. Some take no address that is not in public. */
const subjectOf = (publicUrl: string): string =>
  publicUrl.startsWith('https:') ? publicUrl : 'mailto:operator@parley.invalid'
