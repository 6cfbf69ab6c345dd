import type { Db, Sql } from '../base/db.ts'
import { instanceScope } from '../base/encryption/key-store.ts'
import type { Keyring } from '../base/encryption/keyring.ts'
import { ApiError, forbidden, notFound } from '../base/errors.ts'
import { type DueWatch, watchDueWork } from '../base/pubsub.ts'
import { createZoneFormat, localDateAt } from '../base/time.ts'
import { recordMail } from '../mail/mails.ts'
import { reportMail } from '../mail/report-mail.ts'
import type { NotificationMailDeps, Recipient } from '../notifications/mail/notification-mail.ts'
import { stopLinks } from '../notifications/mail/notification-mail.ts'
import { nextDigestAt } from '../notifications/preferences.ts'
import type { Member, Role } from '../team/member.ts'
import { findSavedFilter } from '../workspaces/saved-filters.ts'
import { findWorkspace } from '../workspaces/workspace.ts'
import type { CollectDeps } from './collect-facts.ts'
import { type Dimension, dimensions } from './fact.ts'
import { readAllTimes, readSums } from './read-report.ts'
import { readHead } from './report-head.ts'

type ReportMailDeps = Pick<NotificationMailDeps, 'db' | 'keyStore' | 'clock' | 'publicUrl' | 'findRecipients'>

/** Returns the saved reports that the caller gets every week. */
export async function listMailed(sql: Sql, { workspaceId, userId }: Member): Promise<string[]> {
  const rows = await sql<{ filterId: string }[]>`
    select filter_id as "filterId"
    from report_mails
    where workspace_id = ${workspaceId}
      and user_id = ${userId}
    order by filter_id`
  return rows.map(({ filterId }) => filterId)
}

/** Has a saved report mailed to the caller every week. Throws 403 for tokens, and 404 unless they can see the report. */
export async function mailWeekly(
  { db, clock }: Pick<CollectDeps, 'db' | 'clock'>,
  { workspaceId, userId }: Member,
  filterId: string,
): Promise<void> {
  if (userId === null) throw forbidden('Tokens cannot get mail. Sign in as a member.')
  const nextAt = nextMonday(await zoneOf(db.sql, workspaceId), clock.now())
  const chosen = await db.statement(
    (tx) => tx`
      insert into report_mails as r (workspace_id, user_id, filter_id, next_at)
      select m.workspace_id, m.user_id, f.id, ${nextAt}
      from members m
      join saved_filters f on f.workspace_id = m.workspace_id
      where m.workspace_id = ${workspaceId}
        and m.user_id = ${userId}
        and f.id = ${filterId}
        and f.page = 'reports'
        and (f.user_id is null or f.user_id = m.user_id)
      -- Chosen again, it stays due when it was.
      on conflict (workspace_id, user_id, filter_id) do update
      set next_at = r.next_at`,
  )
  if (chosen.count === 0) throw notFound('Saved report not found')
}

/** Throws 404 if the caller does not get the report. */
export async function stopMailing(
  { db }: Pick<CollectDeps, 'db'>,
  { workspaceId, userId }: Member,
  filterId: string,
): Promise<void> {
  const stopped = await db.statement(
    (tx) => tx`
      delete from report_mails
      where workspace_id = ${workspaceId}
        and user_id = ${userId}
        and filter_id = ${filterId}`,
  )
  if (stopped.count === 0) throw notFound('You do not get this report')
}

const zoneOf = async (sql: Sql, workspaceId: string): Promise<string> =>
  (await findWorkspace(sql, workspaceId))?.hours?.timeZone ?? 'UTC'

const hour = '08:00'

/** Returns the next Monday at eight in the morning. */
export function nextMonday(timeZone: string, now: Date): Date {
  const format = createZoneFormat(timeZone)
  for (let at = nextDigestAt({ timeZone, time: hour }, now); ; at = nextDigestAt({ timeZone, time: hour }, at)) {
    if (new Date(`${localDateAt(format, at.getTime())}T00:00:00Z`).getUTCDay() === 1) return at
  }
}

interface DueMail {
  workspaceId: string
  userId: string
  filterId: string
  nextAt: Date
  role: Role
}

const batchSize = 50
const pollEveryMs = 60_000
/** A report that is later than this, as after an outage, is skipped. */
const maxDelayMs = 24 * 3_600_000
const week = 7

export function watchReportMails({ db, clock }: Pick<ReportMailDeps, 'db' | 'clock'>): DueWatch {
  const nextAt = async () => {
    const [row] = await db.sql<{ at: Date | null }[]>`
      select min(next_at) as at
      from report_mails`
    return row?.at ?? null
  }
  return watchDueWork({ db, clock }, { nextAt, pollEveryMs })
}

/** Records the weekly mails that are due. Returns how many were due. */
export async function mailReports(deps: ReportMailDeps): Promise<number> {
  const due = await listDue(deps.db, deps.clock.now())
  const failures: unknown[] = []
  for (const [workspaceId, mails] of Map.groupBy(due, (one) => one.workspaceId)) {
    const recipients = await deps.findRecipients(
      workspaceId,
      mails.map(({ userId }) => userId),
    )
    for (const mail of mails) {
      await mailOne(deps, mail, recipients.get(mail.userId)).catch((error: unknown) => failures.push(error))
    }
  }
  // A mail that fails does not block the others.
  if (failures.length > 0) throw failures[0]
  return due.length
}

function listDue(db: Db, now: Date): Promise<DueMail[]> {
  return db.sql<DueMail[]>`
    select r.workspace_id as "workspaceId", r.user_id as "userId", r.filter_id as "filterId", r.next_at as "nextAt", m.role
    from report_mails r
    join members m on m.workspace_id = r.workspace_id and m.user_id = r.user_id
    where r.next_at <= ${now}
    order by r.next_at
    limit ${batchSize}`
}

async function mailOne(deps: ReportMailDeps, due: DueMail, recipient: Recipient | undefined): Promise<void> {
  const { db, keyStore, clock } = deps
  const { workspaceId, userId, filterId, nextAt } = due
  const now = clock.now()
  const isWanted = recipient !== undefined && now.getTime() - nextAt.getTime() < maxDelayMs
  const instanceKeys = await keyStore.keyring(instanceScope)
  const content = isWanted ? await contentOf(deps, instanceKeys, due, recipient, now) : null
  const following = nextMonday(await zoneOf(db.sql, workspaceId), now)
  await db.tx(async (tx) => {
    const claimed = await tx`
      update report_mails
      set next_at = ${following}
      where workspace_id = ${workspaceId}
        and user_id = ${userId}
        and filter_id = ${filterId}
        and next_at = ${nextAt}`
    if (claimed.count === 0 || recipient === undefined || content === null) return
    const cause = `report:${workspaceId}:${userId}:${filterId}:${nextAt.toISOString().slice(0, 10)}`
    const mail = { kind: 'report', cause, workspaceId, userId, content: { ...content, to: recipient.email } } as const
    await recordMail(tx, instanceKeys, { ...mail, expiresAt: new Date(nextAt.getTime() + 2 * maxDelayMs) }, now)
  })
}

/** Returns the mail; null if the person can no longer see the report. */
async function contentOf(
  deps: ReportMailDeps,
  instanceKeys: Keyring,
  { workspaceId, userId, filterId, role }: DueMail,
  { language, workspaceName }: Recipient,
  now: Date,
) {
  const { db, publicUrl } = deps
  const filter = await findSavedFilter(deps, workspaceId, userId, filterId)
  if (filter === undefined) return null
  const search = new URLSearchParams(filter.query)
  const [dimension, value] = [search.get('dimension'), search.get('value')]
  const isFiltered = dimension !== null && value !== null && (dimensions as readonly string[]).includes(dimension)
  const chosen: { dimension?: Dimension; value?: string } = isFiltered
    ? { dimension: dimension as Dimension, value }
    : {}
  try {
    // The day that ends before the mail: the whole week is over.
    const timeZone = await zoneOf(db.sql, workspaceId)
    const to = localDateAt(createZoneFormat(timeZone), now.getTime() - dayMs)
    const { scope } = await readHead(deps, { workspaceId, userId, role }, { ...chosen, to, days: week })
    const [{ now: sums, before }, times] = await Promise.all([readSums(db.sql, scope), readAllTimes(db.sql, scope)])
    const compare = (name: keyof typeof sums.counts) => ({ now: sums.counts[name], before: before.counts[name] })
    const reportsUrl = `${publicUrl}/w/${workspaceId}/reports`
    return reportMail(language, {
      workspace: workspaceName,
      name: filter.name,
      numbers: {
        new: compare('new'),
        closed: compare('closed'),
        reopened: compare('reopened'),
        people: compare('answers_by_people'),
        agents: compare('answers_by_agents'),
        handedOver: compare('case_handed_over'),
        leads: compare('leads'),
        won: compare('leads_won'),
      },
      medians: {
        people: times.answerOfPeople.now?.medianSeconds ?? null,
        agents: times.answerOfAgents.now?.medianSeconds ?? null,
      },
      url: `${reportsUrl}?${new URLSearchParams(Object.entries({ ...chosen, days: String(week) }))}`,
      stop: stopLinks(publicUrl, instanceKeys, { workspaceId, userId, kind: 'report' }),
    })
  } catch (error) {
    // The numbers of a person whom the role may not see, or a value that is no longer valid.
    if (error instanceof ApiError) return null
    throw error
  }
}

const dayMs = 86_400_000
