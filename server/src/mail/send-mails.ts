import { setTimeout as wait } from 'node:timers/promises'
import pLimit from 'p-limit'
import type { Clock } from '../base/clock.ts'
import type { Db, Sql, Tx } from '../base/db.ts'
import { instanceScope, type KeyStore } from '../base/encryption/key-store.ts'
import type { Keyring } from '../base/encryption/keyring.ts'
import { isHolderDead, ownSession } from '../base/lease-session.ts'
import type { Log } from '../base/log.ts'
import { type DueWatch, watchDueWork } from '../base/pubsub.ts'
import { type MailContent, type Mailer, maxConnections, type SendResult, sendTimeoutMs } from './mailer.ts'
import { answerContext, contentContext, type MailState, mailsTopic } from './mails.ts'

export interface MailSenderDeps {
  db: Db
  keyStore: KeyStore
  clock: Clock
  log: Log
  mailer: Mailer
  /** Called when a mail has ended. */
  onEnd?: ((result: EndState) => void) | undefined
}

type EndState = Exclude<MailState, 'waiting'>

interface ClaimedMail {
  id: string
  content: Buffer
  /** With this one. Tells the lease from a later one. */
  attempts: number
  createdAt: Date
  expiresAt: Date
}

const minuteMs = 60_000
const batchSize = 20
/** Due mails from which a batch is chosen, fairly between workspaces. */
const maxChoice = 1000
/** A lease ends with its process; see `isHolderDead`. Only if its whole machine is lost, others wait this long. */
const leaseMs = sendTimeoutMs + minuteMs
/** Pause after the server was unreachable, of all mails of this process. */
export const pauseMs = 30_000
/** Time slice of a run, so that other processes take over at the next. */
const maxRunMs = 30_000
const pollEveryMs = 30_000

/** Returns how long to wait after this many failed attempts: long enough for greylisting, and a day in about ten. */
export function retryDelayMs(attempts: number): number {
  const minutes = [1, 5, 15, 30, 60, 120][attempts - 1] ?? 240
  return minutes * minuteMs
}

/** Watches for due mails, and for those of processes that have died. */
export function watchMails({ db, clock }: Pick<MailSenderDeps, 'db' | 'clock'>): DueWatch {
  const nextAt = async (now: Date) => {
    const [row] = await db.sql<{ at: Date | null }[]>`
      select min(case when ${isAbandoned(db.sql)} then ${now}::timestamptz else next_at end) as at
      from mails
      where next_at is not null`
    return row?.at ?? null
  }
  return watchDueWork({ db, clock }, { nextAt, pollEveryMs, watchedTopics: [{ topic: mailsTopic }] })
}

const isAbandoned = (sql: Sql) => sql`(lease_session is not null and ${isHolderDead(sql)})`

/**
 * Creates a function that sends due mails and returns how many it settled. A mail is leased before it is sent, so that
 * of several processes one sends it. If that one dies before it has recorded the server's answer, the mail is sent
 * again with the same Message-ID (decision 057).
 */
export function createMailSender(deps: MailSenderDeps): () => Promise<number> {
  const { db, clock, log } = deps
  const limit = pLimit(maxConnections)
  let pausedUntilMs = 0
  const sendBatch = async (claimed: readonly ClaimedMail[]): Promise<number> => {
    const failures: SendResult[] = []
    const sends = claimed.map((mail) =>
      limit(async () => {
        // The server was unreachable a moment ago: this mail has not been tried.
        if (failures.length > 0) return requeueMail(db, mail, after(clock, pauseMs), null)
        const result = await deliverMail(deps, mail)
        if (result?.outcome === 'unreachable') failures.push(result)
      }),
    )
    const failed = (await Promise.allSettled(sends)).find((send) => send.status === 'rejected')
    const [failure] = failures
    if (failure !== undefined) {
      pausedUntilMs = clock.now().getTime() + pauseMs
      log.warn('mail server is unreachable or refuses our sign-in; retrying in 30 s', { code: failure.code })
    }
    if (failed !== undefined) throw failed.reason
    return claimed.length
  }
  return async () => {
    const startedMs = performance.now()
    let settled = 0
    while (clock.now().getTime() >= pausedUntilMs && performance.now() - startedMs < maxRunMs) {
      const claimed = await db.statement((tx) => claimMails(tx, clock.now()))
      if (claimed.length === 0) break
      settled += await sendBatch(claimed)
    }
    return settled
  }
}

const after = (clock: Clock, ms: number): Date => new Date(clock.now().getTime() + ms)

/**
 * Leases due mails: those that a person waits for first, then in turn between workspaces, so that many mails of one do
 * not delay the others.
 */
async function claimMails(tx: Tx, now: Date): Promise<ClaimedMail[]> {
  return tx<ClaimedMail[]>`
    with due as materialized (
      select id, priority, next_at, row_number() over (partition by workspace_id order by next_at) as turn
      from (
        select id, priority, next_at, workspace_id
        from mails
        where next_at is not null
          and (next_at <= ${now} or ${isAbandoned(tx)})
        order by priority, next_at
        limit ${maxChoice}
      ) as choice
    ),
    locked as (
      select id
      from mails
      where id in (select id from due order by priority, turn, next_at limit ${batchSize})
        and next_at is not null
        and (next_at <= ${now} or ${isAbandoned(tx)})
      for update skip locked
    )
    update mails m
    set attempts = m.attempts + 1,
      next_at = ${new Date(now.getTime() + leaseMs)},
      lease_session = ${ownSession(tx)}
    from locked
    where m.id = locked.id
    returning m.id, m.content, m.attempts, m.created_at as "createdAt", m.expires_at as "expiresAt"`
}

/** Sends one mail and records the result; null if it could not be sent any more. */
async function deliverMail(deps: MailSenderDeps, mail: ClaimedMail): Promise<SendResult | null> {
  const { keyStore, clock, log, mailer } = deps
  const { id, createdAt } = mail
  if (mail.expiresAt <= clock.now()) {
    await endMail(deps, mail, 'expired', null)
    log.warn('failed to deliver mail in time; not retrying', { mailId: id })
    return null
  }
  const content = await keyStore.withKeyring(
    instanceScope,
    (keyring) => JSON.parse(keyring.decryptText(contentContext(id), mail.content)) as MailContent,
  )
  const keyring = await keyStore.keyring(instanceScope)
  const result = await mailer.send({ ...content, id, createdAt })
  await persist(log, () => recordResult(deps, keyring, mail, result))
  return result
}

const maxPersistAttempts = 5

/** Repeats a write while the database is away: a mail that was taken and not recorded would be sent again. */
async function persist(log: Log, write: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write()
    } catch (error) {
      if (attempt === maxPersistAttempts) throw error
      log.warn('failed to record the result of a mail; retrying', {}, error)
      await wait(attempt * 1000)
    }
  }
}

async function recordResult(
  deps: MailSenderDeps,
  keyring: Keyring,
  mail: ClaimedMail,
  { outcome, answer, code }: SendResult,
): Promise<void> {
  const { db, clock, log } = deps
  const { id, attempts, expiresAt } = mail
  const encrypted = keyring.encrypt(answerContext(id), answer)
  if (outcome === 'sent') return endMail(deps, mail, outcome, encrypted)
  if (outcome === 'refused') {
    await endMail(deps, mail, outcome, encrypted)
    return log.warn('mail was refused by the mail server; not retrying', { mailId: id, code })
  }
  const nextAt = after(clock, retryDelayMs(attempts))
  if (nextAt >= expiresAt) {
    await endMail(deps, mail, 'expired', encrypted)
    return log.warn('failed to deliver mail in time; not retrying', { mailId: id, code })
  }
  await requeueMail(db, mail, nextAt, encrypted)
  if (outcome === 'deferred') log.info('mail server deferred a mail; retrying', { mailId: id, code })
}

/** Records the end of a mail and erases its address and texts. A delivery counts even if the lease has expired. */
async function endMail(
  { db, clock, onEnd }: MailSenderDeps,
  { id, attempts }: ClaimedMail,
  status: EndState,
  answer: Buffer | null,
): Promise<void> {
  const { count } = await db.statement(
    (tx) => tx`
      update mails
      set status = ${status},
        content = null,
        answer = coalesce(${answer}::bytea, answer),
        next_at = null,
        lease_session = null,
        finished_at = ${clock.now()}
      where id = ${id}
        and next_at is not null
        and (${status} = 'sent' or attempts = ${attempts})`,
  )
  if (count > 0) onEnd?.(status)
}

/** Returns a mail to the queue, with the server's answer; null if it was not tried, which is no attempt. */
async function requeueMail(db: Db, { id, attempts }: ClaimedMail, nextAt: Date, answer: Buffer | null): Promise<void> {
  await db.statement(
    (tx) => tx`
      update mails
      set answer = coalesce(${answer}::bytea, answer),
        attempts = ${answer === null ? attempts - 1 : attempts},
        next_at = ${nextAt},
        lease_session = null
      where id = ${id}
        and next_at is not null
        and attempts = ${attempts}`,
  )
}
