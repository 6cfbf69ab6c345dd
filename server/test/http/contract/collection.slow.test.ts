import assert from 'node:assert/strict'
import { randomInt, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { runInNewContext } from 'node:vm'
import { scopes } from '../../../src/auth/api-keys/caller.ts'
import type { App } from '../../../src/base/route.ts'
import { listOperations, openapiDocument, routesDocument } from '../../../src/http/contract/openapi.ts'
import { type PostmanCollection, type PostmanItem, postmanCollection } from '../../../src/http/contract/postman.ts'
import { type InboxWorld, inboxWorld } from '../../support/inbox/inbox-world.ts'
import { testTeamToken } from '../../support/world.ts'

test('the Postman collection succeeds twice and leaves existing data unchanged', async () => {
  const w = await inboxWorld()
  const { value } = await w.addKey({ scopes })
  await w.customerWrites('Hello!')
  await furnish(w)
  const before = await settingsOf(w)
  const collection = postmanCollection(routesDocument(w.app), 'https://parley.example')
  // The second run is independent of the first, as by another person.
  for (const run of ['first', 'second']) {
    const runs = await runCollection(w.app, collection, {
      api_key: value,
      team_token: testTeamToken,
      workspace_id: w.workspaceId,
    })
    assert.deepEqual(
      runs
        .filter(({ statusCode }) => statusCode > 299)
        .map(({ name, statusCode, body }) => `${statusCode} ${name} ${body}`),
      [],
      `${run} run`,
    )
    assert.deepEqual(runs.flatMap(undocumented(w, collection)), [], `${run} run`)
    assert.ok(runs.length > 100)
    assert.deepEqual(settled(await settingsOf(w), before), before, `after the ${run} run`)
  }
})

/** One of each resource that a careless run could change or delete. */
const things = {
  labels: { name: 'VIP', color: 'red' },
  'lead-fields': { key: 'cidade', label: 'Cidade', type: 'text' },
  'canned-replies': { shortcut: 'hello', text: 'Hello!' },
  'saved-filters': { page: 'inbox', name: 'Mine', query: 'view=mine', shared: true },
  webhooks: { url: 'https://hooks.example.com/ours', events: ['lead.*'] },
  keys: { name: 'CRM', scopes: ['leads.read'] },
  tokens: { name: 'CI', role: 'member' },
  invitations: { email: 'ana@example.com', role: 'admin' },
  connections: { channel: 'unofficial', name: 'Van' },
  forms: { name: 'Site', title: 'Talk', fields: [{ key: 'firstName', label: 'Name', type: 'text', required: true }] },
}

async function furnish({ call, workspaceId }: InboxWorld): Promise<void> {
  const path = `/api/team/v1/workspaces/${workspaceId}`
  for (const [place, body] of Object.entries(things)) {
    const answer = await call('POST', `${path}/${place}`, { body, key: testTeamToken })
    assert.equal(answer.status, 201, `${place}: ${JSON.stringify(answer.body)}`)
  }
  const settings = { name: 'Our team', dailyLeadQuota: 77, defaultCountry: 'PT' }
  await call('PATCH', path, { body: settings, key: testTeamToken })
}

type Settings = Record<string, Record<string, unknown>[]>

async function settingsOf({ call, workspaceId }: InboxWorld): Promise<Settings> {
  const path = `/api/team/v1/workspaces/${workspaceId}`
  const found: Settings = {}
  for (const place of [...Object.keys(things), 'members']) {
    const { body } = await call('GET', `${path}/${place}`, { key: testTeamToken })
    found[place] = (Object.values(body)[0] as Record<string, unknown>[]).map(withoutTraffic)
  }
  const { body } = await call('GET', path, { key: testTeamToken })
  return { ...found, workspace: [body.workspace] }
}

// These change by use alone.
function withoutTraffic(thing: Record<string, unknown>): Record<string, unknown> {
  const { lastUsedAt: _used, lastEventInAt: _in, lastEventOutAt: _out, health: _health, ...rest } = thing
  return rest
}

/** Returns the current state of the existing data. */
function settled(now: Settings, before: Settings): Settings {
  const entries = Object.entries(now).map(([place, things]) => {
    const ids = new Set(before[place]?.map(({ id }) => id))
    return [place, things.filter(({ id }) => ids.has(id))]
  })
  return Object.fromEntries(entries)
}

/** Statuses that the document does not declare. */
function undocumented({ app }: InboxWorld, collection: PostmanCollection) {
  const operations = [...listOperations(openapiDocument(app))]
  const items = collection.item.flatMap((folder) => folder.item)
  return ({ name, statusCode }: { name: string; statusCode: number }, index: number): string[] => {
    const path = `/${items[index]?.request.url.path.join('/')}`.replaceAll(/:(\w+)/g, '{$1}')
    const method = items[index]?.request.method.toLowerCase()
    const found = operations.find((each) => each.path === path && each.method === method)
    return found !== undefined && statusCode in found.operation.responses ? [] : [`${statusCode} ${name}`]
  }
}

/** Sends the requests of a collection from top to bottom, as Postman does, including test scripts. */
async function runCollection(app: App, collection: PostmanCollection, given: Record<string, string>) {
  const variables = new Map(collection.variable.map(({ key, value }) => [key, value]))
  for (const [key, value] of Object.entries({ ...given, base_url: '' })) variables.set(key, value)
  const fill = (text: string) =>
    text.replaceAll(/\{\{([$\w]+)\}\}/g, (_match, name: string) => dynamic(name) ?? variables.get(name) ?? '')

  const runs: { name: string; statusCode: number; body: string }[] = []
  for (const item of collection.item.flatMap((folder) => folder.item)) {
    const answer = await app.inject(requestOf(item, collection, fill))
    runs.push({ name: item.name, statusCode: answer.statusCode, body: answer.body })
    const response = { json: () => answer.json(), to: { be: { success: true } } }
    const collectionVariables = { set: (key: string, value: unknown) => variables.set(key, String(value)) }
    if (answer.statusCode >= 300) continue
    const known = { get: (key: string) => variables.get(key) }
    const pm = { response, collectionVariables, variables: known, test: (_name: string, work: () => void) => work() }
    for (const event of item.event) runInNewContext(event.script.exec.join('\n'), { pm })
  }
  return runs
}

function requestOf(item: PostmanItem, collection: PostmanCollection, fill: (text: string) => string) {
  const { method, url, header, body, auth = collection.auth } = item.request
  const path = url.path.map((step) => {
    const variable = url.variable.find(({ key }) => `:${key}` === step)
    return variable === undefined ? step : encodeURIComponent(fill(variable.value))
  })
  const query = Object.fromEntries(
    url.query.filter((each) => each.disabled !== true).map(({ key, value }) => [key, fill(value)]),
  )
  const headers = Object.fromEntries(header.map(({ key, value }) => [key.toLowerCase(), fill(value)]))
  if (auth.type === 'bearer') headers.authorization = `Bearer ${fill(auth.bearer[0]?.value ?? '')}`
  const payload = body === undefined ? undefined : fill(body.raw)
  return { method: method as 'GET', url: `/${path.join('/')}`, query, headers, payload }
}

function dynamic(name: string): string | undefined {
  if (name === '$guid') return randomUUID()
  return name === '$randomInt' ? String(randomInt(1000)) : undefined
}
