import type { Static } from 'typebox'
import { selectApiKey } from '../auth/api-keys/queries.ts'
import type { Clock } from '../base/clock.ts'
import { decodeCursor, encodeCursor } from '../base/cursor.ts'
import type { Sql } from '../base/db.ts'
import { badRequest, notFound } from '../base/errors.ts'
import { isUuid } from '../base/id.ts'
import type { App } from '../base/route.ts'
import { createZoneFormat, startOfDate } from '../base/time.ts'
import type { InboxDeps } from '../inbox/conversation/conversation.ts'
import { type CostGroup, costScopeOf, readCosts } from '../inbox/costs/read-costs.ts'
import { readContacts } from '../inbox/read/names.ts'
import type { CaseCount, DraftCount, InstructionsName } from '../inbox/reviews/agent-numbers.ts'
import { countCases, countDrafts, listCounted, listInstructions, readReasons } from '../inbox/reviews/agent-numbers.ts'
import { caseOutcomes } from '../inbox/reviews/ended-cases.ts'
import { datesOf, periodOf } from '../team/day-period.ts'
import type { TeamGuard } from '../team/member.ts'
import { teamApi } from '../team/team-api.ts'
import { findWorkspace } from '../workspaces/workspace.ts'
import * as schema from './agent-schema.ts'

export type AgentNumberDeps = Pick<InboxDeps, 'db' | 'keyStore' | 'clock' | 'findLeads'>

const path = '/api/team/v1/workspaces/:workspaceId/agent-numbers'
const pageLength = 50
const maxSenders = 1000

/** Adds the routes of the numbers of agents, from the events of their conversations. */
export function agentTeamRoutes(app: App, deps: AgentNumberDeps, guard: TeamGuard): void {
  const { db, keyStore, clock } = deps
  const api = teamApi(app, guard, 'Statistics')
  api.get(path, 'admin', {
    operationId: 'getAgentNumbers',
    summary: 'Get numbers of agents',
    description:
      'How the cases of each agent ended, what became of its drafts, and what its messages cost. A case is what an agent did on one request of a customer: from becoming the owner, or the last closing, until the conversation is closed or gets another owner. For admins.',
    query: schema.DaysQuery,
    answers: { 200: schema.AgentNumbers },
    run: async ({ member: { workspaceId }, query }) => {
      const { period, zone, span, starts, answerMinutes } = await readSpan(db.sql, workspaceId, query, clock)
      const scope = await costScopeOf(db.sql, workspaceId, undefined)
      const [cases, drafts, costs] = await db.inBulk(() =>
        Promise.all([
          countCases(db.sql, span, starts),
          countDrafts(db.sql, span),
          readCosts(db.sql, scope, period, ['sender'], maxSenders),
        ]),
      )
      const versions = await listInstructions(db.sql, workspaceId, [
        ...new Set(cases.flatMap(({ instructionsId }) => instructionsId ?? [])),
      ])
      const { currency } = scope
      const agents = presentAgents({ cases, drafts, costs, versions, ...datesOf(period), isPriced: currency !== null })
      return { ...period, timeZone: zone, answerMinutes, currency, agents }
    },
  })
  api.get(`${path}/:keyId/conversations`, 'admin', {
    operationId: 'listCountedConversations',
    summary: 'List the conversations behind a number',
    description: 'The conversations that a number of the agent counts, newest first. For admins.',
    params: schema.agentParams,
    query: schema.CountedQuery,
    answers: { 200: schema.CountedConversations },
    run: async ({ member: { workspaceId }, params: { keyId }, query }) => {
      await checkKey(db.sql, workspaceId, keyId)
      const { span } = await readSpan(db.sql, workspaceId, query, clock)
      const before = query.cursor === undefined ? null : idIn(query.cursor)
      const request = { keyId, number: query.number, before, limit: pageLength + 1 }
      const found = await db.inBulk(() => listCounted(db.sql, span, request))
      const shown = found.slice(0, pageLength)
      const ids = shown.map(({ conversationId }) => conversationId)
      const contacts = await readContacts(deps, workspaceId, ids)
      const last = shown.at(-1)
      return {
        conversations: shown.map(({ id, conversationId, at }) => {
          const { name = null, phone = null } = contacts.get(conversationId) ?? {}
          return { id, conversationId, name: name ?? phone, at: at.toISOString() }
        }),
        nextCursor: found.length > pageLength && last !== undefined ? encodeCursor([last.id]) : null,
      }
    },
  })
  api.get(`${path}/:keyId/reasons`, 'admin', {
    operationId: 'getAgentReasons',
    summary: 'Get reasons of handovers and rejections',
    description: 'Why the agent handed over to people, and why people rejected its drafts. For admins.',
    params: schema.agentParams,
    query: schema.DaysQuery,
    answers: { 200: schema.AgentReasons },
    run: async ({ member: { workspaceId }, params: { keyId }, query }) => {
      await checkKey(db.sql, workspaceId, keyId)
      const { span } = await readSpan(db.sql, workspaceId, query, clock)
      const keyring = await keyStore.keyring(workspaceId)
      return db.inBulk(() => readReasons({ sql: db.sql, keyring, workspaceId }, keyId, span))
    },
  })
}

/** A revoked key has numbers too. Throws 404. */
async function checkKey(sql: Sql, workspaceId: string, keyId: string): Promise<void> {
  if ((await selectApiKey(sql, workspaceId, keyId)) === null) throw notFound('API key not found')
}

/** Returns the requested days of the workspace, with their first moments. */
export async function readSpan(sql: Sql, workspaceId: string, query: Static<typeof schema.DaysQuery>, clock: Clock) {
  const now = clock.now()
  const workspace = await findWorkspace(sql, workspaceId)
  const zone = workspace?.hours?.timeZone ?? 'UTC'
  const period = periodOf(query, { days: query.days, timeZone: zone, maxDays: schema.maxDays, now })
  const { dates, after } = datesOf(period)
  const format = createZoneFormat(zone)
  const starts = dates.map((date) => startOfDate(format, date))
  const span = { workspaceId, from: starts[0] ?? now, to: startOfDate(format, after), now }
  return { period, zone, span, starts, answerMinutes: workspace?.agentWatchdogMinutes ?? null }
}

export function idIn(cursor: string): string {
  const [id] = decodeCursor(cursor) ?? []
  if (typeof id !== 'string' || !isUuid(id)) throw badRequest('cursor is not valid: take nextCursor of the last page')
  return id
}

interface Counted {
  cases: readonly CaseCount[]
  drafts: readonly DraftCount[]
  costs: readonly CostGroup[]
  versions: readonly InstructionsName[]
  dates: readonly string[]
  isPriced: boolean
}

export function presentAgents({
  cases,
  drafts,
  costs,
  versions,
  dates,
  isPriced,
}: Counted): schema.AgentNumbers['agents'] {
  const keyIds = new Set([...cases, ...drafts].map(({ keyId }) => keyId))
  const agents = [...keyIds].map((keyId) => {
    const own = cases.filter((one) => one.keyId === keyId)
    const byDay = own.filter(({ day }) => day !== null)
    const sums = sumCases(byDay)
    const { resolved, recent } = sums.outcomes
    const costsOfKey = costs.find(({ keys }) => keys[0] === `agent:${keyId}`)
    const ofAllDays = own.filter(({ day }) => day === null)
    return {
      keyId,
      ...sums,
      drafts: presentDrafts(drafts.filter((one) => one.keyId === keyId)),
      cost: presentCost(costsOfKey, resolved + recent, isPriced),
      days: [...Map.groupBy(byDay, ({ day }) => day ?? 0)]
        .sort(([a], [b]) => a - b)
        .map(([day, rows]) => ({ date: dates[day - 1] ?? '', outcomes: sumCases(rows).outcomes })),
      versions: presentVersions(ofAllDays, versions),
    }
  })
  return agents.sort((a, b) => b.cases - a.cases || (a.keyId < b.keyId ? -1 : 1))
}

function sumCases(rows: readonly CaseCount[]) {
  const sum = (counts: readonly number[]) => counts.reduce((total, one) => total + one, 0)
  const of = (outcome: CaseCount['outcome']) => sum(rows.flatMap((row) => (row.outcome === outcome ? row.cases : [])))
  const outcomes = Object.fromEntries(caseOutcomes.map((one) => [one, of(one)])) as schema.CaseCounts
  return { cases: sum(rows.map((row) => row.cases)), answered: sum(rows.map((row) => row.answered)), outcomes }
}

function presentVersions(rows: readonly CaseCount[], names: readonly InstructionsName[]) {
  return [...Map.groupBy(rows, ({ instructionsId }) => instructionsId)]
    .map(([id, ofVersion]) => {
      const name = names.find((one) => one.id === id)
      return { id, keyId: name?.keyId ?? null, version: name?.version ?? null, ...sumCases(ofVersion) }
    })
    .sort((a, b) => (b.keyId === null ? 0 : 1) - (a.keyId === null ? 0 : 1) || (b.version ?? -1) - (a.version ?? -1))
}

function presentDrafts(rows: readonly DraftCount[]) {
  const of = (status: DraftCount['status']) => rows.find((one) => one.status === status)
  const count = (status: DraftCount['status']) => of(status)?.drafts ?? 0
  return {
    ...{ sent: count('sent'), edited: count('edited'), rejected: count('rejected'), replaced: count('replaced') },
    ...{ stale: count('stale'), open: count('open'), distance: of('edited')?.distance ?? null },
  }
}

/** Nothing is known without messages in the ledger, and an amount without a price stays unknown. */
function presentCost(costs: CostGroup | undefined, resolved: number, isPriced: boolean) {
  const { messages = 0, charged = 0, unknown = 0, unpriced = 0 } = costs ?? {}
  const isFree = isPriced && messages > 0 && charged === 0 && unknown === 0
  const amount = costs?.amount ?? (isFree ? '0' : null)
  const perResolved = amount === null || resolved === 0 ? null : String(Number((Number(amount) / resolved).toFixed(6)))
  return { messages, unknown, unpriced, amount, perResolved }
}
