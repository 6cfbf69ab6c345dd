import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listOperations, openapiDocument } from '../../../src/http/contract/openapi.ts'
import { signedInMember } from '../../support/member.ts'
import { type Method, operatorToken, type SignedIn, teamWorld } from '../../support/team-app.ts'
import { world } from '../../support/world.ts'

const { team, user, send } = await teamWorld()

const nobody = '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e'

/** The operations of a workspace that not every member may call, as the document has them in order. */
const needs = {
  admin: `
    updateMember listMadeByMember listInvitations createInvitation copyInvitationLink mailInvitation revokeInvitation listAuditLog
    createApiKey changeApiKey revokeApiKey rotateApiKey grantAuthorizationRequest updateWorkspace
    saveInstructionsDraft discardInstructionsDraft publishInstructionsDraft restoreInstructionsVersion createLabel updateLabel
    deleteLabel createCannedReply updateCannedReply deleteCannedReply createTeam updateTeam deleteTeam setTeamService importHolidays previewAgent createLeadImport listLeadImports getLeadImport startLeadImport
    cancelLeadImport undoLeadImport previewLeadImport listImportValues downloadRefusedRows createLeadField updateLeadField
    orderLeadFields listLeadSources createLeadSource updateLeadSource deleteLeadSource listLeadSourceRequests
    retryLeadSourceRequest backFillLeadSource updateRouting updateSatisfactionSettings createConnection updateConnection deleteConnection pauseConnection resumeConnection getConnectionCheck
    checkConnection listConnectionNumbers subscribeConnection registerConnectionNumber requestConnectionHistory
    pairConnection unpairConnection rotateIdentitySecret syncConnectionTemplates listTemplateDrafts createTemplateDraft getTemplateDraft
    saveTemplateDraft deleteTemplateDraft submitTemplateDraft deleteTemplate deleteArticle publishArticleDraft readSiteMap
    importSitePages createWebhook updateWebhook deleteWebhook
    rotateWebhookSecret disableWebhook enableWebhook testWebhook getDelivery resendDelivery createReplay
    listAutomationRules createAutomationRule updateAutomationRule deleteAutomationRule orderAutomationRules
    dryRunAutomationRule listAutomationRuns createMacro replaceMacro deleteMacro createForm
    updateForm deleteForm getCosts exportCosts listRateCards importRateCards deleteRateCard setConnectionCurrency
    updateBillingSettings listBudgets createBudget updateBudget deleteBudget getAgentNumbers listCountedConversations
    getAgentReasons updateReviewSettings getReviewResults rebuildReports updateBroadcastSettings startBroadcast approveBroadcast
    pauseBroadcast resumeBroadcast cancelBroadcast exportBroadcast createSequence updateSequence deleteSequence createScenario makeScenario updateScenario deleteScenario
    addStarterScenarios startScenarioRun cancelScenarioRun eraseCustomer listErasures getErasure
    uploadLeadImport uploadTemplateSample`,
  owner: 'endSessionsOfMember listTeamTokens createTeamToken revokeTeamToken exportLeads',
}

test('every workspace route allows only the roles in the table, and never anonymous, foreign or CSRF requests', async () => {
  const w = await world()
  const [member, admin, owner] = [
    await signedInMember(w),
    await signedInMember(w, 'admin'),
    await signedInMember(w, 'owner'),
  ]
  const stranger = await signedInMember(await world(), 'owner')
  const all = [...listOperations(openapiDocument(w.app))]
  const ofWorkspace = all.filter(({ path }) => path.startsWith('/api/team/v1/workspaces/{workspaceId}'))
  const check = async ({ method, path, operation }: (typeof all)[number]) => {
    const name = operation.operationId ?? path
    const url = path.replace('{workspaceId}', w.workspaceId).replaceAll(/\{\w+\}/g, nobody)
    // What is sent finds nothing to change, or is refused by its schema.
    const ask = async (headers: Record<string, string>) => {
      const change = method === 'get' ? {} : { payload: {} }
      return (await w.app.inject({ method: method as 'get', url, headers, ...change })).statusCode
    }
    // A stream does not end.
    const isStream = JSON.stringify(operation.responses).includes('text/event-stream')
    const [refused, foreign, forged, low] = await Promise.all([
      ask({}),
      ask(stranger.headers),
      method === 'get' ? 403 : ask({ ...owner.headers, 'x-parley-csrf': 'x' }),
      isStream ? 200 : ask(member.headers),
    ])
    assert.deepEqual([refused, foreign, forged], [401, 404, 403], name)
    return low === 403 ? { name, role: (await ask(admin.headers)) === 403 ? 'owner' : 'admin' } : undefined
  }
  const found: Awaited<ReturnType<typeof check>>[] = []
  // More at once would wait for each other's connections.
  for (let at = 0; at < ofWorkspace.length; at += 3) {
    found.push(...(await Promise.all(ofWorkspace.slice(at, at + 3).map(check))))
  }
  assert.ok(found.length > 100, `${found.length} routes`)
  for (const role of ['admin', 'owner'] as const) {
    const names = found.flatMap((one) => (one?.role === role ? one.name : []))
    assert.deepEqual(names, needs[role].trim().split(/\s+/), role)
  }
})

const here = await team()
const elsewhere = await team()

async function tokenOf(role: string): Promise<string> {
  const body = { name: role, role }
  return (await send(here.owner, 'POST', `/workspaces/${here.workspaceId}/tokens`, body)).json().value
}

const callers: Record<string, SignedIn | string | null> = {
  anonymous: null,
  stranger: elsewhere.owner,
  member: here.member,
  admin: here.admin,
  owner: here.owner,
  operator: await user({ isOperator: true }),
  'member token': await tokenOf('member'),
  'owner token': await tokenOf('owner'),
  'operator token': operatorToken,
}

test('a token has the permissions of its role, and an operator those of an owner, in any workspace', async () => {
  const path = `/workspaces/${here.workspaceId}`
  const rows: [path: string, body: object | undefined, statuses: Record<string, number>][] = [
    ['', undefined, { anonymous: 401, stranger: 404, 'member token': 200, operator: 200, 'operator token': 200 }],
    ['/audit', undefined, { 'member token': 403, 'owner token': 200, admin: 200, 'operator token': 200 }],
    ['/tokens', undefined, { 'member token': 403, 'owner token': 200, admin: 403, operator: 200 }],
    ['/tokens', {}, { 'member token': 403, 'owner token': 400, admin: 403, owner: 400, 'operator token': 400 }],
  ]
  for (const [suffix, body, statuses] of rows) {
    for (const [name, status] of Object.entries(statuses)) {
      const answer = await send(callers[name] ?? null, body ? 'POST' : 'GET', path + suffix, body)
      assert.equal(answer.statusCode, status, `${suffix} ${name}`)
    }
  }
})

// What is sent finds nothing to change (or is refused by its schema), so that every caller meets the same state.
type Row = [method: Method, path: string, body: object | undefined, passed: number]
const forOperators: Row[] = [
  ['POST', '/workspaces', {}, 400],
  ['GET', '/tokens', undefined, 200],
  ['POST', '/tokens', {}, 400],
  ['DELETE', `/tokens/${nobody}`, undefined, 404],
  ['GET', '/audit', undefined, 200],
  ['POST', '/sessions/end-all', {}, 400],
  ['POST', '/mail/test', {}, 400],
  ['GET', '/identity-providers', undefined, 200],
  ['DELETE', `/identity-providers/${nobody}`, undefined, 404],
  ['POST', `/identity-providers/${nobody}/forced`, {}, 400],
  ['POST', `/identity-providers/${nobody}/scim-token`, undefined, 404],
  ['GET', '/users/disabled', undefined, 200],
  ['POST', '/users/enable', {}, 400],
]
const forUsers: Row[] = [
  ['GET', '/sessions', undefined, 200],
  ['DELETE', `/sessions/${nobody}`, undefined, 404],
  ['PATCH', '/me', { name: 'Ana Lima' }, 200],
  ['GET', '/me/identities', undefined, 200],
  ['POST', '/me/identities', {}, 400],
  ['POST', '/me/totp', {}, 400],
  ['POST', '/me/totp/confirm', {}, 400],
  ['DELETE', '/me/totp', {}, 400],
]
const groups: [who: string, rows: Row[], may: (name: string) => boolean][] = [
  ['operators', forOperators, (name) => name.startsWith('operator')],
  ['signed-in users, not for tokens', forUsers, (name) => !name.endsWith('token')],
]

for (const [who, rows, may] of groups) {
  test(`routes without a workspace allow ${who}`, async () => {
    for (const [method, path, body, passed] of rows) {
      for (const [name, as] of Object.entries(callers)) {
        // A body is looked at before it is asked whether a token has a user.
        const refused = rows === forUsers && passed === 400 ? 400 : 403
        const expected = name === 'anonymous' ? 401 : may(name) ? passed : refused
        assert.equal((await send(as, method, path, body)).statusCode, expected, `${method} ${path} ${name}`)
      }
    }
  })
}

test('missing and foreign workspaces are indistinguishable', async () => {
  const foreign = await send(here.owner, 'GET', `/workspaces/${elsewhere.workspaceId}`)
  for (const id of [nobody, 'not-a-uuid', '%20']) {
    const missing = await send(here.owner, 'GET', `/workspaces/${id}`)
    assert.equal(missing.statusCode, 404)
    assert.deepEqual(missing.json(), foreign.json())
  }
})
