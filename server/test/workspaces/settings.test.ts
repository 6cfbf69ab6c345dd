import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../src/base/errors.ts'
import { applyQuotaChange, initialQuota, type Quota } from '../../src/workspaces/quota-ceiling.ts'
import { pick } from '../support/pick.ts'
import { operatorToken, type SignedIn, teamWorld } from '../support/team-app.ts'

const { keyStore, clock, team, user, send, db } = await teamWorld()

test('an operator creates a workspace: its keys work immediately, and its creator owns it', async () => {
  const operator = await user({ isOperator: true })
  const answer = await send(operator, 'POST', '/workspaces', { name: '  Acme Sales ', defaultCountry: 'BR' })
  assert.equal(answer.statusCode, 201)
  const { workspace } = answer.json()
  assert.equal(workspace.name, 'Acme Sales')
  assert.equal(workspace.defaultCountry, 'BR')
  assert.equal(workspace.dailyLeadQuota, 100_000)
  assert.deepEqual(workspace.leadStatuses.slice(0, 2), ['new', 'contacted'])
  const keyring = await keyStore.keyring(workspace.id)
  const place = { table: 'leads', row: workspace.id, column: 'person' }
  assert.equal(keyring.decryptText(place, keyring.encrypt(place, 'Bo')), 'Bo')
  const { workspaces } = (await send(operator, 'GET', '/session')).json()
  assert.deepEqual(workspaces, [{ id: workspace.id, name: 'Acme Sales', role: 'owner' }])
})

test('a workspace created with a token has no owner until one is invited', async () => {
  const { workspace } = (await send(operatorToken, 'POST', '/workspaces', { name: 'Empty' })).json()
  assert.deepEqual((await send(operatorToken, 'GET', `/workspaces/${workspace.id}/members`)).json(), { members: [] })
})

test('a user lists their own workspaces, an operator lists all', async () => {
  const { workspaceId, member } = await team()
  await team()
  const ids = async (as: Parameters<typeof send>[0]) =>
    pick((await send(as, 'GET', '/workspaces')).json().workspaces, 'id')
  assert.deepEqual(await ids(member), [workspaceId])
  const rows = await db.sql`select id from workspaces`
  assert.equal((await ids(operatorToken)).length, rows.count)
})

test('an admin changes the settings; omitted fields do not change', async () => {
  const { workspaceId, admin } = await team()
  clock.advance(1000)
  const patch = { name: 'Renamed', dailyLeadQuota: 500, leadStatuses: ['new', 'hot'], defaultCountry: 'MX' }
  const { workspace } = (await send(admin, 'PATCH', `/workspaces/${workspaceId}`, patch)).json()
  assert.equal(workspace.name, 'Renamed')
  assert.equal(workspace.dailyLeadQuota, 500)
  assert.equal(workspace.leadsEnabled, true)
  assert.equal(workspace.updatedAt, clock.now().toISOString())
  const cleared = await send(admin, 'PATCH', `/workspaces/${workspaceId}`, { defaultCountry: null })
  assert.equal(cleared.json().workspace.defaultCountry, null)
  assert.equal(cleared.json().workspace.name, 'Renamed')
})

test('the currency is null until an admin sets it, the change is logged, and unknown ones are refused', async () => {
  const { workspaceId, admin, member } = await team()
  const path = `/workspaces/${workspaceId}`
  assert.equal((await send(admin, 'GET', path)).json().workspace.currency, null)
  assert.equal((await send(admin, 'PATCH', path, { currency: 'BRL' })).json().workspace.currency, 'BRL')
  assert.equal((await send(member, 'GET', path)).json().workspace.currency, 'BRL')
  const { entries } = (await send(admin, 'GET', `${path}/audit`)).json()
  assert.ok(entries.some(({ target }: { target: string }) => target === 'currency'))
  for (const currency of ['ABC', 'brl', 'R$']) {
    const refused = await send(admin, 'PATCH', path, { currency })
    assert.deepEqual([refused.statusCode, refused.json().data.issues[0].path], [400, 'currency'])
  }
  assert.equal((await send(admin, 'PATCH', path, { currency: null })).json().workspace.currency, null)
})

const weekdaysOnly = (timeZone: string, ...spans: { from: string; to: string }[]) => ({
  timeZone,
  week: { monday: spans, tuesday: spans, wednesday: spans, thursday: spans, friday: spans, saturday: [], sunday: [] },
})
const office = weekdaysOnly('America/Sao_Paulo', { from: '09:00', to: '12:00' }, { from: '13:00', to: '24:00' })

test('hours and instructions for agents are set, compared regardless of field order, and cleared', async () => {
  const { workspaceId, admin } = await team()
  const path = `/workspaces/${workspaceId}`
  const patch = { hours: office, agentWord: 'Be brief.\nNever promise a discount.' }
  assert.equal((await send(admin, 'PATCH', path, patch)).statusCode, 200)
  const { workspace } = (await send(admin, 'GET', path)).json()
  assert.deepEqual([workspace.hours, workspace.agentWord], [patch.hours, patch.agentWord])
  const { week, timeZone } = office
  const turned = { week: Object.fromEntries(Object.entries(week).reverse()), timeZone }
  await send(admin, 'PATCH', path, { hours: turned })
  const { entries } = (await send(admin, 'GET', `${path}/audit`)).json()
  const changes = entries.filter(({ action }: { action: string }) => action === 'workspace.changed')
  assert.deepEqual(pick(changes, 'target'), ['agent_word,hours'])
  const cleared = (await send(admin, 'PATCH', path, { hours: null, agentWord: null })).json().workspace
  assert.deepEqual([cleared.hours, cleared.agentWord], [null, null])
})

test('invalid hours are refused, naming the field', async () => {
  const { workspaceId, admin } = await team()
  const hours = weekdaysOnly('Europe/Atlantis', { from: '09:00', to: '12:00' }, { from: '11:00', to: '18:00' })
  const { data } = (await send(admin, 'PATCH', `/workspaces/${workspaceId}`, { hours })).json()
  const paths = pick(data.issues, 'path')
  assert.deepEqual(paths.slice(0, 2), ['hours.timeZone', 'hours.week.monday[1].from'])
})

test('a change without effect is not recorded', async () => {
  const { workspaceId, admin } = await team()
  const before = (await send(admin, 'GET', `/workspaces/${workspaceId}`)).json()
  clock.advance(1000)
  assert.deepEqual((await send(admin, 'PATCH', `/workspaces/${workspaceId}`, { name: 'Acme' })).json(), before)
  const { entries } = (await send(admin, 'GET', `/workspaces/${workspaceId}/audit`)).json()
  assert.equal(entries.length, 1)
})

const switches: [field: string, owner: number][] = [
  ['leadsEnabled', 403],
  ['inboxEnabled', 403],
  ['inboxAvailable', 200],
]

test('owners and operators open the inbox; only operators change the plan', async () => {
  const { workspaceId, owner, admin } = await team()
  const path = `/workspaces/${workspaceId}`
  for (const [field, forOwner] of switches) {
    assert.equal((await send(admin, 'PATCH', path, { [field]: false })).statusCode, 403, field)
    assert.equal((await send(owner, 'PATCH', path, { [field]: false })).statusCode, forOwner, field)
    const answer = await send(operatorToken, 'PATCH', path, { [field]: false })
    assert.deepEqual([answer.statusCode, answer.json().workspace[field]], [200, false], field)
  }
})

const refused: [what: string, patch: object][] = [
  ['nothing', {}],
  ['an unknown field', { colour: 'red' }],
  ['an empty name', { name: '  ' }],
  ['a country that is no code', { defaultCountry: 'Brazil' }],
  ['a country without a numbering plan', { defaultCountry: 'FP' }],
  ['a negative quota', { dailyLeadQuota: -1 }],
  ['a quota as text', { dailyLeadQuota: '5' }],
  ['a status with capitals', { leadStatuses: ['New'] }],
  ['a status twice', { leadStatuses: ['new', 'new'] }],
  ['no status', { leadStatuses: [] }],
  ['an empty word for agents', { agentWord: ' ' }],
  ['a word for agents without end', { agentWord: 'a'.repeat(4001) }],
  ['a time that no clock shows', { hours: weekdaysOnly('UTC', { from: '25:00', to: '26:00' }) }],
  ['a day of five spans', { hours: weekdaysOnly('UTC', ...Array(5).fill({ from: '09:00', to: '10:00' })) }],
  ['half a week', { hours: { timeZone: 'UTC', week: { monday: [] } } }],
]

test('an invalid change is refused', async () => {
  const { workspaceId, owner } = await team()
  for (const [what, patch] of refused) {
    assert.equal((await send(owner, 'PATCH', `/workspaces/${workspaceId}`, patch)).statusCode, 400, what)
  }
})

test('a change is published, so that every node invalidates its cache', async () => {
  const { workspaceId, owner } = await team()
  const heard = Promise.withResolvers<void>()
  // Changes of other tests' workspaces may still arrive.
  await db.listen('workspaces', (id) => id === workspaceId && heard.resolve())
  await send(owner, 'PATCH', `/workspaces/${workspaceId}`, { name: 'Heard' })
  await heard.promise
})

async function patch(as: SignedIn | string, workspaceId: string, body: object): Promise<unknown[]> {
  const answer = await send(as, 'PATCH', `/workspaces/${workspaceId}`, body)
  const { workspace, data } = answer.json()
  return answer.statusCode === 200
    ? [200, workspace.dailyLeadQuota, workspace.dailyLeadQuotaCeiling]
    : [answer.statusCode, data?.issues?.[0]?.path]
}

test('admins and owners set the quota up to a ceiling that only operators change', async () => {
  const { workspaceId, owner, admin } = await team()
  for (const as of [admin, owner]) {
    assert.deepEqual(await patch(as, workspaceId, { dailyLeadQuota: 0 }), [400, 'dailyLeadQuota'])
    assert.deepEqual(await patch(as, workspaceId, { dailyLeadQuota: 100_001 }), [400, 'dailyLeadQuota'])
    assert.deepEqual(await patch(as, workspaceId, { dailyLeadQuotaCeiling: 0 }), [403, undefined])
    assert.deepEqual(await patch(as, workspaceId, { dailyLeadQuota: 5 }), [200, 5, 100_000])
    assert.deepEqual(await patch(as, workspaceId, { dailyLeadQuota: 100_000 }), [200, 100_000, 100_000])
  }
  assert.deepEqual(await patch(operatorToken, workspaceId, { dailyLeadQuotaCeiling: 200 }), [200, 200, 200])
  assert.deepEqual(await patch(admin, workspaceId, { dailyLeadQuota: 201 }), [400, 'dailyLeadQuota'])
  assert.deepEqual(await patch(operatorToken, workspaceId, { dailyLeadQuota: 300 }), [200, 300, 300])
  assert.deepEqual(await patch(operatorToken, workspaceId, { dailyLeadQuota: 0 }), [200, 0, 0])
  assert.deepEqual(await patch(admin, workspaceId, { dailyLeadQuota: 7 }), [200, 7, 0])
  assert.deepEqual(await patch(admin, workspaceId, { dailyLeadQuota: 0 }), [200, 0, 0])
})

test('the quota of a new workspace is also its ceiling, unless the operator sets one', async () => {
  const make = async (body: object) => {
    const answer = await send(operatorToken, 'POST', '/workspaces', { name: 'New', ...body })
    const { workspace } = answer.json()
    return answer.statusCode === 201 ? [workspace.dailyLeadQuota, workspace.dailyLeadQuotaCeiling] : answer.statusCode
  }
  assert.deepEqual(await make({}), [100_000, 100_000])
  assert.deepEqual(await make({ dailyLeadQuota: 50 }), [50, 50])
  assert.deepEqual(await make({ dailyLeadQuota: 50, dailyLeadQuotaCeiling: 80 }), [50, 80])
  assert.deepEqual(await make({ dailyLeadQuotaCeiling: 80 }), [80, 80])
  assert.equal(await make({ dailyLeadQuota: 90, dailyLeadQuotaCeiling: 80 }), 400)
})

const changes: [before: Quota, wanted: Partial<Quota>, isOperator: boolean, after: Quota | number][] = [
  [{ quota: 9, ceiling: 5 }, { quota: 9 }, false, { quota: 9, ceiling: 5 }],
  [{ quota: 9, ceiling: 5 }, { quota: 8 }, false, 400],
  [{ quota: 9, ceiling: 5 }, {}, false, { quota: 9, ceiling: 5 }],
  [{ quota: 0, ceiling: 0 }, { quota: 3 }, false, { quota: 3, ceiling: 0 }],
  [{ quota: 5, ceiling: 5 }, { ceiling: 5 }, false, 403],
  [{ quota: 5, ceiling: 5 }, { quota: 0 }, true, { quota: 0, ceiling: 0 }],
  [{ quota: 5, ceiling: 5 }, { quota: 4 }, true, { quota: 4, ceiling: 5 }],
  [{ quota: 0, ceiling: 0 }, { ceiling: 5 }, true, { quota: 5, ceiling: 5 }],
  [{ quota: 3, ceiling: 5 }, { ceiling: 0 }, true, { quota: 3, ceiling: 0 }],
  [{ quota: 3, ceiling: 5 }, { quota: 6, ceiling: 5 }, true, 400],
  [{ quota: 3, ceiling: 5 }, { quota: 0, ceiling: 0 }, true, { quota: 0, ceiling: 0 }],
]

test('changes of quota and ceiling', () => {
  for (const [before, wanted, isOperator, expected] of changes) {
    const label = JSON.stringify([before, wanted, isOperator])
    if (typeof expected === 'object') assert.deepEqual(applyQuotaChange(before, wanted, isOperator), expected, label)
    else {
      const refusal = (error: unknown) => error instanceof ApiError && error.statusCode === expected
      assert.throws(() => applyQuotaChange(before, wanted, isOperator), refusal, label)
    }
  }
  assert.deepEqual(initialQuota({ ceiling: 0 }), { quota: 100_000, ceiling: 0 })
})
