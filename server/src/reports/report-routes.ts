import { decodeCursor, encodeCursor } from '../base/cursor.ts'
import { badRequest } from '../base/errors.ts'
import { isUuid } from '../base/id.ts'
import type { App } from '../base/route.ts'
import { parseIsoTime } from '../base/time.ts'
import { countUnanswered, type UnansweredCount } from '../inbox/read/count-views.ts'
import { readContacts } from '../inbox/read/names.ts'
import { decryptLead } from '../leads/lead/encrypted-lead.ts'
import { findLeadsByIds } from '../leads/lead/queries.ts'
import { recordAudit } from '../team/audit.ts'
import { datesOf } from '../team/day-period.ts'
import type { Member, TeamGuard } from '../team/member.ts'
import { type TeamApi, teamApi } from '../team/team-api.ts'
import { type CollectDeps, readCampaignNames } from './collect-facts.ts'
import type { Dimension } from './fact.ts'
import { type NumberName, numberNames, numbers } from './numbers.ts'
import { rebuildReports } from './queue.ts'
import { type Amount, listCounted, readAllTimes, readGroups, readSums, type Sums } from './read-report.ts'
import { isAdmin, readHead } from './report-head.ts'
import {
  CountedItems,
  CountedQuery,
  GroupsQuery,
  maxGroups,
  Report,
  ReportGroups,
  ReportMails,
  ReportQuery,
  reportMailParams,
} from './report-schema.ts'
import { listMailed, mailWeekly, stopMailing } from './weekly-mail.ts'

const path = '/api/team/v1/workspaces/:workspaceId/reports'
const pageLength = 50

/** Adds the routes of reports: numbers of a period by dimension, what they count, and weekly mails of saved reports. */
export function reportTeamRoutes(app: App, deps: CollectDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Reports')
  readRoutes(api, deps)
  groupRoutes(api, deps)
  listRoute(api, deps)
  mailRoutes(api, deps)
}

function readRoutes(api: TeamApi, deps: CollectDeps): void {
  const { db, clock } = deps
  api.get(path, 'member', {
    operationId: 'getReport',
    summary: 'Get a report',
    description:
      'Numbers of conversations, agents, leads and costs of a period, compared with the same number of days before. Counted in the background, seconds after each change. Members get no costs, and of people only their own numbers.',
    query: ReportQuery,
    answers: { 200: Report },
    run: async ({ member, query }) => {
      const { head, scope, hasCosts } = await readHead(deps, member, query)
      const [sums, times, waiting, nameOf] = await Promise.all([
        readSums(db.sql, scope),
        readAllTimes(db.sql, scope),
        scope.filter === null ? countUnanswered(db.sql, member.workspaceId, clock.now()) : null,
        campaignNames(deps, member, scope.filter?.dimension, [scope.filter?.id ?? '']),
      ])
      const isPriced = hasCosts && head.costCurrency !== null
      const { day: medianOf, ...periodTimes } = times
      return {
        ...head,
        campaign: nameOf(scope.filter?.id ?? ''),
        counts: compare(sums),
        times: periodTimes,
        waiting: waiting === null ? null : presentWaiting(waiting),
        leads: sums.now.leads,
        cost: presentCost(sums, head.costCurrency, hasCosts),
        days: datesOf(scope).dates.map((date) => ({
          ...presentDay(date, sums.day(date), isPriced),
          medianOfPeople: medianOf(date, 'people'),
          medianOfAgents: medianOf(date, 'agents'),
        })),
      }
    },
  })
}

function groupRoutes(api: TeamApi, deps: CollectDeps): void {
  const { db, clock } = deps
  api.get(`${path}/groups`, 'member', {
    operationId: 'getReportGroups',
    summary: 'Get a report by dimension',
    description: 'The same numbers for each connection, team, person, agent key, label, source or campaign.',
    query: GroupsQuery,
    answers: { 200: ReportGroups },
    run: async ({ member, query: { by, ...query } }) => {
      const { head, scope, hasCosts } = await readHead(deps, member, query)
      const groups = await readGroups(db.sql, scope, by)
      const isShown = (id: string) => by !== 'person' || isAdmin(member) || id === member.userId
      const shown = groups.filter(({ id }) => isShown(id)).slice(0, maxGroups)
      const nameOf = await campaignNames(
        deps,
        member,
        by,
        shown.map(({ id }) => id),
      )
      return {
        ...head,
        groups: shown.map(({ id, now, before, times }) => ({
          id,
          name: nameOf(id),
          counts: compare({ now, before }),
          answer: times('answer'),
          resolution: times('closed'),
          leads: now.leads,
          cost: presentCost({ now, before }, head.costCurrency, hasCosts),
        })),
      }
    },
  })
  api.post(`${path}/rebuild`, 'admin', {
    operationId: 'rebuildReports',
    summary: 'Count everything again',
    description:
      'Makes all numbers of reports again from the recorded changes, in the background. What was counted of erased conversations stays. For admins.',
    run: async ({ member }) => {
      const now = clock.now()
      await db.tx((tx) => recordAudit(tx, { ...auditOf(member), action: 'reports.rebuilt', target: null }, now))
      await rebuildReports(db, member.workspaceId, now)
    },
  })
}

const auditOf = ({ workspaceId, actor }: Member) => ({ scopeId: workspaceId, actor })

function presentDay(date: string, { counts, cost }: Sums, isPriced: boolean) {
  return {
    ...{ date, new: counts.new, closed: counts.closed, reopened: counts.reopened },
    ...{ answersOfPeople: counts.answers_by_people, answersOfAgents: counts.answers_by_agents },
    ...{ leads: counts.leads, leadsWon: counts.leads_won, cost: isPriced ? cost.amount : null },
  }
}

function presentWaiting(waiting: readonly UnansweredCount[]): NonNullable<Report['waiting']> {
  const sum = (isAgent: boolean) =>
    waiting.reduce((all, { ownedByAgent, count }) => all + (ownedByAgent === isAgent ? count : 0), 0)
  return { forPeople: sum(false), forAgents: sum(true) }
}

async function campaignNames(
  deps: CollectDeps,
  { workspaceId }: Member,
  dimension: Dimension | undefined,
  ids: readonly string[],
): Promise<(id: string) => string | null> {
  const names = dimension === 'campaign' ? await readCampaignNames(deps, workspaceId, ids) : new Map<string, string>()
  return (id) => names.get(id) ?? null
}

function compare({ now, before }: { now: Sums; before: Sums }): Report['counts'] {
  return Object.fromEntries(
    numberNames.map((name) => [name, { now: now.counts[name], before: before.counts[name] }]),
  ) as Report['counts']
}

function presentCost(sums: { now: Sums; before: Sums }, currency: string | null, hasCosts: boolean): Report['cost'] {
  if (!hasCosts) return null
  const amountOf = ({ amount }: Amount) => (currency === null ? null : amount)
  return { now: amountOf(sums.now.cost), before: amountOf(sums.before.cost), unpriced: sums.now.cost.unpriced }
}

function listRoute(api: TeamApi, deps: CollectDeps): void {
  api.get(`${path}/counted`, 'member', {
    operationId: 'listReportCounted',
    summary: 'List what a number counts',
    description: 'The conversations or leads that a number of the report counts, newest first.',
    query: CountedQuery,
    answers: { 200: CountedItems },
    run: async ({ member, query }) => {
      const { number, cursor, ...filters } = query
      const { scope } = await readHead(deps, member, filters)
      const after = cursor === undefined ? null : placeIn(cursor)
      const found = await listCounted(deps.db.sql, scope, { number, after, limit: pageLength + 1 })
      const shown = found.slice(0, pageLength)
      const last = shown.at(-1)
      const nameOf = await readSubjects(
        deps,
        member.workspaceId,
        number,
        shown.map(({ subjectId }) => subjectId),
      )
      return {
        items: shown.map(({ id, subjectId, at, value }) => ({
          id,
          ...nameOf(subjectId),
          at: at.toISOString(),
          seconds: value === null || numbers[number].kind === 'lead' ? null : Number(value) / 1000,
        })),
        nextCursor: found.length > pageLength && last !== undefined ? encodeCursor([last.day, last.id]) : null,
      }
    },
  })
}

function placeIn(cursor: string): { day: string; id: string } {
  const [day, id] = decodeCursor(cursor) ?? []
  const isDay = typeof day === 'string' && day.length === 10 && parseIsoTime(day) !== null
  if (isDay && typeof id === 'string' && isUuid(id)) return { day, id }
  throw badRequest('cursor is not valid: take nextCursor of the last page')
}

/** Reads the conversations or leads that still exist, with the names that the team sees. */
async function readSubjects(deps: CollectDeps, workspaceId: string, number: NumberName, ids: readonly string[]) {
  if (numbers[number].kind !== 'lead') {
    const contacts = await readContacts(deps, workspaceId, ids)
    return (id: string) => {
      const contact = contacts.get(id)
      const conversationId = contact === undefined ? null : id
      return { conversationId, leadId: null, name: contact?.name ?? contact?.phone ?? null }
    }
  }
  const rows = await findLeadsByIds(deps.db.sql, workspaceId, ids)
  const names = await deps.keyStore.withKeyring(workspaceId, async (keyring) =>
    rows.map((row) => {
      const { id, firstName, lastName } = decryptLead(keyring, row)
      return [id, [firstName, lastName].filter(Boolean).join(' ')] as const
    }),
  )
  const byId = new Map(names)
  return (id: string) => ({ conversationId: null, leadId: byId.has(id) ? id : null, name: byId.get(id) ?? null })
}

function mailRoutes(api: TeamApi, deps: CollectDeps): void {
  api.get(`${path}/mails`, 'member', {
    operationId: 'listReportMails',
    summary: 'List weekly reports',
    description:
      'The saved reports that the caller gets by mail every week. Reports are saved as filters of the page `reports`.',
    answers: { 200: ReportMails },
    run: async ({ member }) => ({ filterIds: await listMailed(deps.db.sql, member) }),
  })
  api.put(`${path}/mails/:filterId`, 'member', {
    operationId: 'startReportMail',
    summary: 'Get a report every week',
    description:
      'Mails the numbers of the last seven days to the caller, every Monday morning in the time zone of the business hours, with the filter of the saved report. Costs are not part of it.',
    params: reportMailParams,
    run: ({ member, params }) => mailWeekly(deps, member, params.filterId),
  })
  api.delete(`${path}/mails/:filterId`, 'member', {
    operationId: 'stopReportMail',
    summary: 'Stop a weekly report',
    description: 'The caller no longer gets this report.',
    params: reportMailParams,
    run: ({ member, params }) => stopMailing(deps, member, params.filterId),
  })
}
