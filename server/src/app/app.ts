import cookie from '@fastify/cookie'
import type { KeyDeps } from '../access/keys/change-keys.ts'
import { clientAddressReader } from '../access/keys/client-address.ts'
import { createGuard, type Guard } from '../access/keys/guard.ts'
import { keyTeamRoutes } from '../access/keys/team-routes-keys.ts'
import type { LeavingDeps } from '../access/people/leave-team.ts'
import { auditTeamRoutes } from '../access/people/team-routes-audit.ts'
import { invitationTeamRoutes } from '../access/people/team-routes-invitations.ts'
import { meTeamRoutes } from '../access/people/team-routes-me.ts'
import { memberTeamRoutes } from '../access/people/team-routes-members.ts'
import { peopleTeamRoutes } from '../access/people/team-routes-people.ts'
import { createPasswords } from '../access/sign-in/passwords.ts'
import { sessionTeamRoutes } from '../access/sign-in/team-routes-session.ts'
import { signInTeamRoutes } from '../access/sign-in/team-routes-sign-in.ts'
import { signInLinkTeamRoutes } from '../access/sign-in/team-routes-sign-in-link.ts'
import type { TeamDeps } from '../access/team/team-deps.ts'
import { createTeamGuard, decorateTeamRequests } from '../access/team/team-guard.ts'
import { tokenTeamRoutes } from '../access/team/team-routes-tokens.ts'
import type { App } from '../base/route.ts'
import { strangeConnections } from '../channels/connection/queries.ts'
import { erasureTeamRoutes } from '../erasure/team-routes.ts'
import { formRoutes } from '../forms/routes.ts'
import { teamFormRoutes } from '../forms/team-routes.ts'
import { describeApi } from '../http/contract/openapi.ts'
import { serveReference } from '../http/contract/reference.ts'
import { createServer } from '../http/server/server.ts'
import { siteRoutes } from '../http/site/site.ts'
import { dropLabel } from '../inbox/conversation/queries.ts'
import { handBackAll, handBackConversationsOf } from '../inbox/ownership/hand-back.ts'
import { conversationsOfPhone } from '../inbox/read/of-phone.ts'
import { leadRoutes } from '../leads/api/routes.ts'
import { leadTeamRoutesOfLeads } from '../leads/api/team-routes.ts'
import { type ConversationDeps, conversationsTeamRoute } from '../leads/api/team-routes-conversations.ts'
import { leadTeamRoutes } from '../leads/api/team-routes-history.ts'
import { exportTeamRoutes } from '../leads/transfer/team-routes-export.ts'
import { importFileTeamRoutes } from '../leads/transfer/team-routes-import-files.ts'
import { importTeamRoutes } from '../leads/transfer/team-routes-imports.ts'
import type { MasterDeps } from '../rotation/master.ts'
import { rotationTeamRoutes } from '../rotation/team-routes.ts'
import { statsTeamRoutes } from '../stats/team-routes.ts'
import type { TeamGuard } from '../team/member.ts'
import { disableMadeBy, webhooksMadeBy } from '../webhooks/manage/made-by.ts'
import { systemActor } from '../workspace/actor.ts'
import type { WorkspaceDeps } from '../workspace/create.ts'
import { workspaceTeamRoutes } from '../workspace/team-routes.ts'
import { cannedReplyTeamRoutes } from '../workspace/team-routes-canned-replies.ts'
import { labelTeamRoutes } from '../workspace/team-routes-labels.ts'
import { savedFilterTeamRoutes } from '../workspace/team-routes-saved-filters.ts'
import { erasureDeps } from './erasure.ts'
import { type Events, serveEvents } from './events.ts'
import { type Inbox, serveInbox } from './inbox.ts'
import { keyedTables } from './keyed-tables.ts'
import type { Runtime } from './runtime.ts'
import { serveWebhooks } from './webhooks.ts'
import { serveService } from './worker.ts'

const formSubmissionsPerMinute = 10
const untrustedForward =
  'X-Forwarded-For from a proxy that PARLEY_TRUSTED_PROXIES does not list is passed over: all who come by it count as one address'

/** Puts every room's routes on one server. `watch` sees the server before its first route: tests check answers there. */
export async function buildApp(runtime: Runtime, watch: (app: App) => void = () => {}): Promise<App> {
  const { config, log, clock, db, limiter, metrics } = runtime
  const guard = await createGuard({
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
    observe: metrics.request,
  })
  app.addHook('onClose', () => guard.close())
  await describeApi(app)
  watch(app)

  serveReference(app, config.http.publicUrl)
  serveService(app, runtime)
  leadRoutes(app, runtime, guard)
  const inbox = await serveInbox(app, runtime, guard)
  const events = await serveEvents(app, runtime, guard)
  await servePeople(app, runtime, guard, inbox, events)
  return app
}

async function servePeople(app: App, runtime: Runtime, guard: Guard, inbox: Inbox, events: Events): Promise<void> {
  const { config, log, clock, db, vault, limiter, localToken } = runtime
  const { publicUrl, trustedProxies } = config.http
  const clientAddress = clientAddressReader(trustedProxies, () => log.warn(untrustedForward))
  const team: TeamDeps = { db, vault, clock, publicUrl, passwords: createPasswords(), addressOf: clientAddress }
  const rate = { limiter, perMinute: config.limits.teamPerMinute }
  const teamGuard = createTeamGuard({ ...team, teamToken: config.teamToken, localToken, rate })

  await app.register(cookie)
  decorateTeamRequests(app)
  serveTeam(app, runtime, team, teamGuard, guard)
  await inbox.serveTeam(teamGuard, events.live)
  await importFileTeamRoutes(app, team, teamGuard)
  serveWebhooks(app, runtime, teamGuard)
  events.serveTeam(teamGuard)
  teamFormRoutes(app, team, teamGuard)
  formRoutes(app, { ...team, limiter, clientAddress, submissionsPerMinute: formSubmissionsPerMinute })
  await siteRoutes(app, team)
}

function serveTeam(app: App, runtime: Runtime, team: TeamDeps, teamGuard: TeamGuard, guard: Guard): void {
  for (const routes of [
    signInTeamRoutes,
    signInLinkTeamRoutes,
    sessionTeamRoutes,
    meTeamRoutes,
    peopleTeamRoutes,
    invitationTeamRoutes,
    tokenTeamRoutes,
    auditTeamRoutes,
    leadTeamRoutes,
    importTeamRoutes,
    exportTeamRoutes,
    cannedReplyTeamRoutes,
    savedFilterTeamRoutes,
    statsTeamRoutes,
  ]) {
    routes(app, team, teamGuard)
  }
  leadTeamRoutesOfLeads(app, runtime, teamGuard)
  erasureTeamRoutes(app, erasureDeps(runtime), teamGuard)
  const conversationsOf: ConversationDeps['conversationsOf'] = (workspaceId, phone) =>
    conversationsOfPhone(team, workspaceId, phone)
  conversationsTeamRoute(app, { ...team, conversationsOf }, teamGuard)
  const agentsStopped: WorkspaceDeps['agentsStopped'] = async (tx, keyring, workspaceId, by) => {
    await handBackAll(tx, keyring, workspaceId, by, team.clock.now())
  }
  workspaceTeamRoutes(app, { ...team, agentsStopped }, teamGuard)
  const labelDeleted: WorkspaceDeps['labelDeleted'] = (tx, workspaceId, labelId) =>
    dropLabel(tx, workspaceId, labelId, team.clock.now())
  labelTeamRoutes(app, { ...team, labelDeleted }, teamGuard)
  const keyStopped: KeyDeps['keyStopped'] = async (tx, keyring, workspaceId, keyId) => {
    await handBackConversationsOf(tx, keyring, workspaceId, keyId, systemActor, team.clock.now())
  }
  const { masterKeyFile = null } = runtime
  const sharesDatabase = runtime.config.database.url !== null
  const masterKeyReplaced: MasterDeps['masterKeyReplaced'] = (key) => runtime.memoryIndexes?.useMasterKey(key)
  const rotation = { tables: keyedTables, masterKeyFile, masterKeyReplaced, sharesDatabase }
  rotationTeamRoutes(app, { ...team, ...rotation }, teamGuard)
  const leaving: LeavingDeps = {
    ...team,
    forgetKey: guard.forgetKey,
    keyStopped,
    webhooksOf: (workspaceId, userId) => webhooksMadeBy(team, workspaceId, userId),
    disableWebhooksOf: (tx, by, userId) => disableMadeBy(tx, by, userId, team.clock.now()),
  }
  memberTeamRoutes(app, leaving, teamGuard)
  keyTeamRoutes(app, { ...team, forgetKey: guard.forgetKey, keyStopped, strangeConnections }, teamGuard)
}
