import type { Static } from 'typebox'
import { invalid } from '../base/errors.ts'
import type { App } from '../base/route.ts'
import { isTimeZone, parseFutureTime } from '../base/time.ts'
import { actorReferences, type Names, readNames } from '../inbox/read/names.ts'
import { memberSendConflict, SendHeaders, sendErrors } from '../inbox/send/send-schema.ts'
import { requireInbox } from '../inbox/team-api/present-conversation.ts'
import { fileResponse, sendFile } from '../leads/transfer/export/export.ts'
import { recordAudit } from '../team/audit.ts'
import { type Member, roleCovers, type TeamGuard } from '../team/member.ts'
import { type TeamApi, teamApi } from '../team/team-api.ts'
import { type Broadcast, type BroadcastDeps, findBroadcast, selectBroadcasts } from './broadcast.ts'
import {
  BroadcastList,
  broadcastParams,
  DraftSchema,
  OneBroadcast,
  type PresentedBroadcast,
  Preview,
  PreviewRequest,
  Recipients,
  RecipientsQuery,
  Settings,
  StartRequest,
  TestRequest,
  TestResult,
} from './broadcast-schema.ts'
import {
  approveBroadcast,
  type BroadcastDraft,
  cancelBroadcast,
  changeBroadcast,
  countAudience,
  createBroadcast,
  deleteBroadcast,
  maxBroadcasts,
  needsApproval,
  pauseBroadcast,
  resumeBroadcast,
  setApproval,
  startBroadcast,
} from './manage.ts'
import { previewBroadcast, sendTest } from './preview.ts'
import { exportRecipients, listRecipients, nameOf } from './recipients.ts'
import { addAmounts } from './results.ts'

const path = '/api/team/v1/workspaces/:workspaceId/broadcasts'
const onePath = `${path}/:broadcastId`

/** Adds the routes of broadcasts: members prepare them, admins start them. */
export function broadcastTeamRoutes(app: App, deps: BroadcastDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Broadcasts')
  readRoutes(api, deps)
  draftRoutes(api, deps)
  testRoutes(api, deps)
  controlRoutes(api, deps)
  recipientRoutes(api, deps)
}

function readRoutes(api: TeamApi, deps: BroadcastDeps): void {
  const { db, keyStore } = deps.sends
  api.get(path, 'member', {
    operationId: 'listBroadcasts',
    summary: 'List broadcasts',
    description: 'Newest first. Costs are shown to admins only.',
    answers: { 200: BroadcastList },
    run: async ({ member }) => {
      const { workspaceId } = member
      const [found, approval] = await Promise.all([
        keyStore.withKeyring(workspaceId, (keyring) =>
          selectBroadcasts(db.sql, keyring, workspaceId, db.sql`order by b.id desc limit ${maxBroadcasts}`),
        ),
        needsApproval(db.sql, workspaceId),
      ])
      return { broadcasts: await present(deps, member, found), approval }
    },
  })
  api.get(onePath, 'member', {
    operationId: 'getBroadcast',
    summary: 'Get a broadcast',
    description: 'With its counts and results, which are read again every few seconds while it runs.',
    params: broadcastParams,
    answers: { 200: OneBroadcast },
    run: async ({ member, params }) =>
      presentOne(deps, member, read(deps, member.workspaceId, params.broadcastId.toLowerCase())),
  })
  api.put('/api/team/v1/workspaces/:workspaceId/broadcast-settings', 'admin', {
    operationId: 'updateBroadcastSettings',
    summary: 'Set whether a second person approves broadcasts',
    description: 'For admins. Another admin than the one who starts a broadcast must approve it then.',
    body: Settings,
    run: ({ member, body }) => setApproval(deps, member, body.approval),
  })
}

const read = ({ sends }: BroadcastDeps, workspaceId: string, id: string): Promise<Broadcast> =>
  sends.keyStore.withKeyring(workspaceId, (keyring) => findBroadcast(sends.db.sql, keyring, workspaceId, id))

function draftRoutes(api: TeamApi, deps: BroadcastDeps): void {
  api.post(path, 'member', {
    operationId: 'createBroadcast',
    summary: 'Create a broadcast',
    description: 'A draft: nothing is sent before an admin has started it. A workspace keeps at most 500.',
    body: DraftSchema,
    answers: { 201: OneBroadcast },
    errors: [409],
    run: ({ member, body }) => presentOne(deps, member, createBroadcast(deps, member, draftOf(body))),
  })
  api.put(onePath, 'member', {
    operationId: 'replaceBroadcast',
    summary: 'Change a broadcast',
    description: 'Until it is started. Its audience must be counted again. 409 afterwards.',
    params: broadcastParams,
    body: DraftSchema,
    answers: { 200: OneBroadcast },
    errors: [409],
    run: ({ member, params, body }) =>
      presentOne(deps, member, changeBroadcast(deps, member, params.broadcastId.toLowerCase(), draftOf(body))),
  })
  api.delete(onePath, 'member', {
    operationId: 'deleteBroadcast',
    summary: 'Delete a broadcast',
    description:
      'With its results; started ones for admins. Messages that were sent stay. 409 while it is scheduled, sent or paused.',
    params: broadcastParams,
    errors: [409],
    run: ({ member, params }) => deleteBroadcast(deps, member, params.broadcastId.toLowerCase()),
  })
  api.post(`${onePath}/count`, 'member', {
    operationId: 'countBroadcastAudience',
    summary: 'Count and freeze the audience',
    description:
      'In the background: afterwards `counts` says who gets it and who is left out. Leads that are created later do not get it. At most 100,000. 422 for templates that cannot be sent with these variables.',
    params: broadcastParams,
    answers: { 200: OneBroadcast },
    errors: [409, 422],
    run: ({ member, params }) =>
      presentOne(deps, member, countAudience(deps, member, params.broadcastId.toLowerCase())),
  })
}

function draftOf({ name, connectionId, audience, variants, options }: Static<typeof DraftSchema>): BroadcastDraft {
  return { name: name.trim(), connectionId: connectionId.toLowerCase(), ...audience, variants, options }
}

function testRoutes(api: TeamApi, deps: BroadcastDeps): void {
  api.post(`${path}/preview`, 'member', {
    operationId: 'previewBroadcast',
    summary: 'Preview a broadcast',
    description: 'Fills the templates in for some leads of the audience. Sends nothing.',
    body: PreviewRequest,
    answers: { 200: Preview },
    errors: [409, 422],
    run: ({ member, body }) => {
      const { connectionId, audience, variants } = body
      return previewBroadcast(deps, member, { connectionId: connectionId.toLowerCase(), ...audience, variants })
    },
  })
  api.post(`${onePath}/test`, 'member', {
    operationId: 'testBroadcast',
    summary: 'Send a broadcast to yourself',
    description:
      'Sends one variant to a number, with the values of the newest lead of the audience, as a message of yours. At most once per Idempotency-Key.',
    params: broadcastParams,
    headers: SendHeaders,
    body: TestRequest,
    answers: { 202: TestResult, ...sendErrors, 409: memberSendConflict },
    errors: [429, 503],
    run: async ({ member, params, body, headers }) => {
      requireInbox(member)
      const broadcast = await read(deps, member.workspaceId, params.broadcastId.toLowerCase())
      return sendTest(deps, member, broadcast, { ...body, key: headers['idempotency-key'] })
    },
  })
}

function controlRoutes(api: TeamApi, deps: BroadcastDeps): void {
  api.post(`${onePath}/start`, 'admin', {
    operationId: 'startBroadcast',
    summary: 'Start a broadcast',
    description:
      'Now, at a time, or at a local time of each recipient. For admins who have signed in: programs prepare broadcasts, people start them. If the workspace wants it, another admin must approve it first.',
    params: broadcastParams,
    body: StartRequest,
    answers: { 200: OneBroadcast },
    errors: [409],
    run: ({ member, params, body }) => {
      requireInbox(member)
      const { at = null, localAt = null, timeZone = 'UTC' } = body
      if (at !== null && localAt !== null) throw invalid('localAt', 'cannot be combined with at')
      if (!isTimeZone(timeZone)) throw invalid('timeZone', 'must be a time zone, as in America/Sao_Paulo')
      const start = { at: at === null ? null : parseFutureTime(at, 'at', deps.sends.clock.now()), localAt, timeZone }
      return presentOne(deps, member, startBroadcast(deps, member, params.broadcastId.toLowerCase(), start))
    },
  })
  const controls = [
    ['approve', 'Approve a broadcast', 'As another admin than the one who has started it.', approveBroadcast],
    ['pause', 'Pause a broadcast', 'Nothing more is sent once this has returned.', pauseBroadcast],
    ['resume', 'Resume a broadcast', '409 while the number cannot send.', resumeBroadcast],
    ['cancel', 'Cancel a broadcast', 'Who has got nothing yet gets nothing. It cannot be undone.', cancelBroadcast],
  ] as const
  for (const [name, summary, description, run] of controls) {
    api.post(`${onePath}/${name}`, 'admin', {
      ...{ operationId: `${name}Broadcast`, summary, description: `${description} For admins.` },
      params: broadcastParams,
      answers: { 200: OneBroadcast },
      errors: [409],
      run: ({ member, params }) => presentOne(deps, member, run(deps, member, params.broadcastId.toLowerCase())),
    })
  }
}

function recipientRoutes(api: TeamApi, deps: BroadcastDeps): void {
  const { db, clock } = deps.sends
  api.get(`${onePath}/recipients`, 'member', {
    operationId: 'listBroadcastRecipients',
    summary: 'List recipients of a broadcast',
    description: 'Everyone of the frozen audience, also who was left out, with what became of them.',
    params: broadcastParams,
    query: RecipientsQuery,
    answers: { 200: Recipients },
    run: async ({ member, params, query }) => {
      const broadcast = await read(deps, member.workspaceId, params.broadcastId.toLowerCase())
      const { status = null, after = null, limit = 50 } = query
      const rows = await listRecipients(deps, broadcast, { status, after, limit })
      const seesCosts = roleCovers(member.role, 'admin')
      return {
        recipients: rows.map(({ lead, sentAt, answeredAt, optedOutAt, cost, ...row }) => ({
          ...row,
          name: nameOf(lead),
          sentAt: sentAt?.toISOString() ?? null,
          answeredAt: answeredAt?.toISOString() ?? null,
          optedOutAt: optedOutAt?.toISOString() ?? null,
          cost: seesCosts ? cost : null,
        })),
        after: rows.length < limit ? null : (rows.at(-1)?.id ?? null),
      }
    },
  })
  api.get(`${onePath}/export`, 'admin', {
    operationId: 'exportBroadcast',
    summary: 'Export the recipients of a broadcast as CSV',
    description: 'One row per recipient with names and phones. For admins; recorded in the audit log.',
    params: broadcastParams,
    answers: { 200: fileResponse('The file.') },
    run: async ({ member, params, reply }) => {
      const { workspaceId, actor } = member
      const broadcast = await read(deps, workspaceId, params.broadcastId.toLowerCase())
      const entry = { scopeId: workspaceId, actor, action: 'broadcast.exported', target: `broadcast:${broadcast.id}` }
      await db.tx((tx) => recordAudit(tx, entry, clock.now()))
      return sendFile(reply, `broadcast-${broadcast.id}`, 'csv', exportRecipients(deps, broadcast))
    },
  })
}

async function presentOne(deps: BroadcastDeps, member: Member, one: Promise<Broadcast>) {
  const [broadcast] = await present(deps, member, [await one])
  if (broadcast === undefined) throw new Error('A broadcast was expected')
  return { broadcast }
}

async function present({ sends }: BroadcastDeps, member: Member, found: readonly Broadcast[]) {
  const userOf = (id: string | null) => ({ type: 'user', id })
  const names = await readNames(sends, member.workspaceId, [
    ...actorReferences(found.flatMap((one) => [one.actor, userOf(one.startedBy), userOf(one.approvedBy)])),
    ...found.map(({ connectionId }) => ({ type: 'connection' as const, id: connectionId })),
  ])
  return found.map((one) => presentBroadcast(one, names, roleCovers(member.role, 'admin')))
}

function presentBroadcast(one: Broadcast, names: Names, seesCosts: boolean): PresentedBroadcast {
  const { counts, results, resultsAt, actor, connectionId } = one
  const person = (id: string | null) => (id === null ? null : { type: 'user' as const, id, name: names('user', id) })
  return {
    ...{ id: one.id, name: one.name, state: one.state, reason: one.reason, localAt: one.localAt },
    connection: { id: connectionId, name: names('connection', connectionId) },
    audience: { filter: one.filter, viewName: one.viewName },
    ...{ variants: one.variants, options: one.options },
    counts: counts && { leads: counts.leads, included: counts.included, excluded: counts.excluded },
    cost:
      counts === null || !seesCosts
        ? null
        : { amount: counts.amount, currency: counts.currency, unpriced: counts.unpriced },
    startAt: one.startAt?.toISOString() ?? null,
    createdBy: { ...actor, name: names(actor.type, actor.id) },
    ...{ startedBy: person(one.startedBy), approvedBy: person(one.approvedBy) },
    createdAt: one.createdAt.toISOString(),
    startedAt: one.state === 'collecting' ? null : (one.startedAt?.toISOString() ?? null),
    endedAt: one.endedAt?.toISOString() ?? null,
    results: results && {
      at: (resultsAt ?? one.updatedAt).toISOString(),
      variants: results.variants.map((each) => ({ ...each, cost: seesCosts ? each.cost : null })),
      reasons: results.reasons as NonNullable<PresentedBroadcast['results']>['reasons'],
      cost: seesCosts
        ? { amount: totalCost(results.variants), currency: results.currency, unpriced: results.unpriced }
        : null,
    },
  }
}

function totalCost(variants: readonly { cost: string | null }[]): string | null {
  const costs = variants.flatMap(({ cost }) => cost ?? [])
  return costs.length === 0 ? null : addAmounts(costs)
}
