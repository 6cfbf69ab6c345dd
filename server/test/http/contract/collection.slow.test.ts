import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scopes } from '../../../src/access/keys/scopes.ts'
import { openapiDocument, operationsOf, routesOf } from '../../../src/http/contract/openapi.ts'
import { type PostmanCollection, postmanCollection } from '../../../src/http/contract/postman.ts'
import { runCollection } from '../../support/contract/postman.ts'
import { type InboxWorld, inboxWorld } from '../../support/inbox/inbox-world.ts'
import { testTeamToken } from '../../support/world.ts'

test('the collection succeeds as it stands, twice, and leaves what was there before as it was', async () => {
  const w = await inboxWorld()
  const { value } = await w.addKey({ scopes })
  await w.customerWrites('Hello!')
  await furnish(w)
  const before = await settingsOf(w)
  const collection = postmanCollection(routesOf(w.app), 'https://parley.example')
  // The second run knows nothing of the first, as when another person makes it.
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

/** One of everything that a team may have and a careless run could change or remove. */
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

// Use alone moves these.
function withoutTraffic(thing: Record<string, unknown>): Record<string, unknown> {
  const { lastUsedAt: _used, lastEventInAt: _in, lastEventOutAt: _out, health: _health, ...rest } = thing
  return rest
}

/** What was there before, as it is now. */
function settled(now: Settings, before: Settings): Settings {
  const entries = Object.entries(now).map(([place, things]) => {
    const ids = new Set(before[place]?.map(({ id }) => id))
    return [place, things.filter(({ id }) => ids.has(id))]
  })
  return Object.fromEntries(entries)
}

/** Statuses that the document does not name. */
function undocumented({ app }: InboxWorld, collection: PostmanCollection) {
  const operations = [...operationsOf(openapiDocument(app))]
  const items = collection.item.flatMap((folder) => folder.item)
  return ({ name, statusCode }: { name: string; statusCode: number }, index: number): string[] => {
    const path = `/${items[index]?.request.url.path.join('/')}`.replaceAll(/:(\w+)/g, '{$1}')
    const method = items[index]?.request.method.toLowerCase()
    const found = operations.find((each) => each.path === path && each.method === method)
    return found !== undefined && statusCode in found.operation.responses ? [] : [`${statusCode} ${name}`]
  }
}
