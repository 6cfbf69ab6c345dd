import cookie from '@fastify/cookie'
import { alwaysOn } from '../agents/define-tool.ts'
import { previewTeamRoutes } from '../agents/preview-routes.ts'
import { agentTools } from '../agents/tools/all-tools.ts'
import { type AccessDeps, accessTeamRoutes } from '../auth/access-routes.ts'
import { clientAddressReader, createKeyGuard, type KeyGuard } from '../auth/api-keys/authenticate.ts'
import { createMetricsGuard, createTeamGuard, decorateTeamRequests } from '../auth/credentials/team-guard.ts'
import { createClientDocuments } from '../auth/oauth/clients.ts'
import { consentTeamRoutes } from '../auth/oauth/consent-routes.ts'
import { type OAuthDeps, oauthRoutes } from '../auth/oauth/oauth-routes.ts'
import { type ScimDeps, scimRoutes } from '../auth/scim/scim-routes.ts'
import { identityTeamRoutes } from '../auth/sso/identity-routes.ts'
import { logoutRoutes } from '../auth/sso/logout.ts'
import { createOidc } from '../auth/sso/oidc.ts'
import { providerTeamRoutes } from '../auth/sso/provider-routes.ts'
import { ssoRoutes } from '../auth/sso/sso-routes.ts'
import { createPasswords } from '../auth/users/passwords.ts'
import type { TeamDeps } from '../auth/users/users.ts'
import { automationTeamRoutes } from '../automation/automation-routes.ts'
import type { App } from '../base/route.ts'
import { broadcastTeamRoutes } from '../broadcasts/broadcast-routes.ts'
import { strangeConnections } from '../channels/connection/queries.ts'
import { erasureTeamRoutes } from '../erasure/erasure-routes.ts'
import { formTeamRoutes } from '../forms/form-routes.ts'
import { formRoutes } from '../forms/routes.ts'
import { countLeadSubmissions, listLeadSubmissions } from '../forms/submit/submissions.ts'
import { registerOpenApi } from '../http/contract/openapi.ts'
import { serveReference } from '../http/contract/reference.ts'
import { createReadinessCheck, serveHealth } from '../http/monitoring/health.ts'
import { serveMetrics } from '../http/monitoring/metrics.ts'
import { unsubscribeRoutes } from '../http/pages/unsubscribe.ts'
import { pageRoutes } from '../http/pages/web-app.ts'
import { createServer } from '../http/server/server.ts'
import { reassignAll, reassignFromKey, reassignUnseen } from '../inbox/assignment/reassign-to-people.ts'
import { setConsentOfPhones } from '../inbox/consent/set-consent.ts'
import { dropLabel } from '../inbox/conversation/queries.ts'
import { listConversationsByPhone, listEntriesByPhone } from '../inbox/read/entries-by-phone.ts'
import { dropTeam } from '../inbox/routing/clear-teams.ts'
import { rotationTeamRoutes } from '../key-rotation/rotation-routes.ts'
import type { Embedder } from '../knowledge/embeddings.ts'
import { knowledgeTeamRoutes } from '../knowledge/knowledge-routes.ts'
import { type LeadTeamDeps, leadTeamRoutes } from '../leads/api/lead-routes.ts'
import { leadRoutes } from '../leads/api/routes.ts'
import { leadHookRoutes } from '../leads/sources/hook-routes.ts'
import { reportTeamRoutes } from '../reports/report-routes.ts'
import { sequenceTeamRoutes } from '../sequences/sequence-routes.ts'
import { leadSequences, startBy } from '../sequences/start-runs.ts'
import { agentTeamRoutes } from '../stats/agent-routes.ts'
import { budgetTeamRoutes } from '../stats/budget-routes.ts'
import { costTeamRoutes } from '../stats/cost-routes.ts'
import { reviewTeamRoutes } from '../stats/review-routes.ts'
import { statsTeamRoutes } from '../stats/stats-routes.ts'
import { listTaskEntries } from '../tasks/task.ts'
import { taskTeamRoutes } from '../tasks/task-routes.ts'
import type { TeamGuard } from '../team/member.ts'
import { webhookTeamRoutes } from '../webhooks/manage/endpoint-routes.ts'
import { disableWebhooksCreatedBy, webhooksCreatedBy } from '../webhooks/manage/read-endpoint.ts'
import { systemActor } from '../workspaces/actor.ts'
import type { WorkspaceDeps } from '../workspaces/change.ts'
import { workspaceTeamRoutes } from '../workspaces/workspace-routes.ts'
import { serveAgents } from './agents.ts'
import { erasureDeps } from './erasure.ts'
import { type Events, presentPayload, serveEvents } from './events.ts'
import { type Inbox, serveInbox } from './inbox.ts'
import { conversationReader, embedderOf } from './knowledge.ts'
import { serveNotifications } from './notifications.ts'
import type { Runtime } from './runtime.ts'
import { serveScenarios } from './scenarios.ts'
import { keyedTables } from './tables.ts'

const formSubmissionsPerMinute = 10
const untrustedForward =
  'ignored X-Forwarded-For from a proxy that is not in PARLEY_TRUSTED_PROXIES; its clients share one address'

/** Adds every module's routes to one server. `watch` gets the server before its first route: tests use it. */
export async function buildApp(runtime: Runtime, watch: (app: App) => void = () => {}): Promise<App> {
  const { config, log, clock, db, limiter, metrics, tracer } = runtime
  const guard = await createKeyGuard({
    db,
    clock,
    limiter,
    limits: config.limits,
    trustedProxies: config.http.trustedProxies,
  })
  const app = createServer({
    log,
    clock,
    isHttps: config.http.publicUrl.startsWith('https:'),
    keyIdOf: (request) => request.caller?.keyId,
    tracer,
    observe: metrics.request,
  })
  app.addHook('onResponse', (request, reply, done) => {
    guard.recordCall(request, reply)
    done()
  })
  app.addHook('onClose', () => guard.close())
  await registerOpenApi(app)
  watch(app)

  serveReference(app, config.http.publicUrl)
  serveService(app, runtime)
  leadRoutes(app, runtime, guard)
  const inbox = await serveInbox(app, runtime, guard)
  const events = await serveEvents(app, runtime, guard)
  const embedder = embedderOf(runtime)
  await serveAgents(app, runtime, guard, inbox, events.watch, embedder)
  await serveTeamApi(app, runtime, guard, inbox, events, embedder)
  return app
}

async function serveTeamApi(
  app: App,
  runtime: Runtime,
  guard: KeyGuard,
  inbox: Inbox,
  events: Events,
  embedder: Embedder | null,
): Promise<void> {
  const { config, log, clock, wallClock = clock, db, keyStore, limiter, localToken, passwordCost } = runtime
  const { sessionIdleMs, http } = config
  const { publicUrl, trustedProxies } = http
  const clientAddress = clientAddressReader(trustedProxies, () => log.warn(untrustedForward))
  const team: TeamDeps = {
    ...{ db, keyStore, clock, wallClock, sessionIdleMs, publicUrl, mailer: runtime.mailer ?? null },
    passwords: createPasswords(passwordCost),
    clientAddressOf: clientAddress,
  }
  const rate = { limiter, perMinute: config.limits.teamPerMinute }
  const teamGuard = createTeamGuard({ ...team, teamToken: config.teamToken, localToken, rate })

  await app.register(cookie)
  decorateTeamRequests(app)
  const access = accessDeps(team, guard)
  const documents = createClientDocuments(runtime.outgoing, clock)
  const oauth: OAuthDeps = { ...access, outgoing: runtime.outgoing, documents, limiter }
  accessTeamRoutes(app, access, teamGuard)
  consentTeamRoutes(app, oauth, teamGuard)
  oauthRoutes(app, oauth)
  serveSignOn(app, { ...team, limiter, outgoing: runtime.outgoing }, teamGuard)
  workspaceTeamRoutes(app, workspaceDeps(team), teamGuard)
  previewTeamRoutes(app, { inbox: runtime, limits: config.limits }, agentTools, teamGuard)
  leadTeamRoutes(app, leadTeamDeps(runtime), teamGuard)
  await inbox.serveTeam(teamGuard, events.live)
  knowledgeTeamRoutes(app, { ...runtime, embedder, ...conversationReader(runtime) }, teamGuard)
  webhookTeamRoutes(app, { ...runtime, present: presentPayload }, teamGuard)
  automationTeamRoutes(app, { ...runtime, sends: inbox.sends, maxEnabled: config.limits.automationRules }, teamGuard)
  events.serveTeam(teamGuard)
  serveNotifications(app, runtime, teamGuard, events.live)
  formTeamRoutes(app, team, teamGuard)
  statsTeamRoutes(app, team, teamGuard)
  costTeamRoutes(app, team, teamGuard)
  budgetTeamRoutes(app, team, teamGuard)
  agentTeamRoutes(app, inbox.sends, teamGuard)
  reviewTeamRoutes(app, inbox.sends, teamGuard)
  reportTeamRoutes(app, inbox.sends, teamGuard)
  taskTeamRoutes(app, inbox.sends, teamGuard)
  broadcastTeamRoutes(app, { sends: inbox.sends, leads: runtime }, teamGuard)
  sequenceTeamRoutes(app, inbox.sends, teamGuard)
  serveScenarios(app, runtime, teamGuard)
  erasureTeamRoutes(app, erasureDeps(runtime), teamGuard)
  serveRotation(app, runtime, teamGuard)
  leadHookRoutes(app, { ...runtime, clientAddress })
  formRoutes(app, {
    ...{ ...team, limiter, clientAddress, submissionsPerMinute: formSubmissionsPerMinute },
    submitted: (tx, workspaceId, by, now) => startBy(tx, workspaceId, [by], { type: 'form', id: by.formId }, now),
  })
  await unsubscribeRoutes(app, team)
  await pageRoutes(app, team)
}

/** Single sign-on, and the accounts that identity providers manage. */
function serveSignOn(app: App, deps: ScimDeps & Pick<Runtime, 'outgoing'>, teamGuard: TeamGuard): void {
  const signOn = { ...deps, oidc: createOidc(deps.outgoing) }
  ssoRoutes(app, signOn)
  logoutRoutes(app, signOn)
  identityTeamRoutes(app, signOn, teamGuard)
  providerTeamRoutes(app, signOn, teamGuard)
  scimRoutes(app, deps)
}

/** Dependencies of leads on other modules, for display and merging. */
function leadTeamDeps(runtime: Runtime): LeadTeamDeps {
  return {
    ...runtime,
    sequences: leadSequences,
    publicUrl: runtime.config.http.publicUrl,
    setConsentOfPhones: (...args) => setConsentOfPhones(runtime, ...args),
    conversationsOf: (...args) => listConversationsByPhone(runtime, ...args),
    conversationEntries: (...args) => listEntriesByPhone(runtime, ...args),
    submissionEntries: (...args) => listLeadSubmissions(runtime, ...args),
    taskEntries: (...args) => listTaskEntries(runtime, ...args),
    countLeadSubmissions,
  }
}

/** Effects in other modules when a key or a membership ends. */
function accessDeps(team: TeamDeps, { forgetKey, lastCalls }: KeyGuard): AccessDeps {
  return {
    ...team,
    forgetKey,
    lastCalls,
    strangeConnections,
    toolNames: agentTools.flatMap(({ name }) => (name === alwaysOn ? [] : name)),
    keyStopped: async (tx, keyring, workspaceId, keyId) => {
      await reassignFromKey({ tx, keyring, workspaceId, now: team.clock.now() }, keyId, systemActor)
    },
    keyNarrowed: async (tx, keyring, workspaceId, keyId, connectionIds) => {
      await reassignUnseen({ tx, keyring, workspaceId, now: team.clock.now() }, { keyId, connectionIds }, systemActor)
    },
    webhooksOf: (workspaceId, userId) => webhooksCreatedBy(team, workspaceId, userId),
    disableWebhooksOf: (tx, by, userId) => disableWebhooksCreatedBy(tx, by, userId, team.clock.now()),
  }
}

/** Effects on conversations when a label or a team is deleted, or agents are stopped. */
function workspaceDeps(team: TeamDeps): WorkspaceDeps {
  return {
    ...team,
    agentsStopped: async (tx, keyring, workspaceId, by) => {
      await reassignAll({ tx, keyring, workspaceId, now: team.clock.now() }, by)
    },
    labelDeleted: (tx, workspaceId, labelId) => dropLabel(tx, workspaceId, labelId, team.clock.now()),
    teamDeleted: dropTeam,
  }
}

function serveRotation(app: App, runtime: Runtime, teamGuard: TeamGuard): void {
  const { config, memoryIndexes, masterKeyFile = null } = runtime
  const masterKeyReplaced = (key: Buffer) => memoryIndexes?.useMasterKey(key)
  const keys = { tables: keyedTables, masterKeyFile, masterKeyReplaced, sharesDatabase: config.database.url !== null }
  rotationTeamRoutes(app, { ...runtime, ...keys }, teamGuard)
}

/** Builds the server of a worker process, which serves only health and metrics. */
export async function buildWorkerApp(runtime: Runtime): Promise<App> {
  const { log, clock, metrics } = runtime
  const app = createServer({ log, clock, observe: metrics.request })
  serveService(app, runtime)
  return app
}

/** Adds health and metrics, for operators and their tools, to every process. */
export function serveService(app: App, runtime: Runtime): void {
  const { config, db, keyStore, clock, wallClock = clock, metrics, localToken } = runtime
  // Readiness ignores the fair queues: heavy users must not determine whether the process is ready.
  serveHealth(app, createReadinessCheck(db))
  const { publicUrl } = config.http
  const { teamToken, metricsToken, sessionIdleMs } = config
  const credentials = { db, keyStore, clock, wallClock, sessionIdleMs, publicUrl, teamToken, localToken }
  serveMetrics(app, metrics, createMetricsGuard({ ...credentials, metricsToken }))
}
