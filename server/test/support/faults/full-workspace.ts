import { randomUUID } from 'node:crypto'
import type { AgentTool } from '../../../src/agents/define-tool.ts'
import { basePath } from '../../../src/agents/http/routes.ts'
import { agentTools } from '../../../src/agents/tools/all-tools.ts'
import { scopes } from '../../../src/auth/api-keys/caller.ts'
import { createPasswords } from '../../../src/auth/users/passwords.ts'
import type { App } from '../../../src/base/route.ts'
import { listOperations, routesDocument } from '../../../src/http/contract/openapi.ts'
import type { Schema } from '../../../src/http/contract/openapi-shared.ts'
import { type ErasureWorld, erasureWorld, type Person } from '../erasure-world.ts'
import { signedInMember, type TestMember } from '../member.ts'
import { cheapPasswords, testTeamToken } from '../world.ts'
import { oneOf, type Random } from './values.ts'

/** Operation of any API; names in its path are in braces. */
export interface AnyOperation {
  method: string
  path: string
  query: Schema
  headers: Schema
  body: Schema | null
  /** Set for an operation of the agent API. */
  tool: AgentTool | null
}

type Input = { properties: Record<string, Schema>; required?: string[] }

/** Returns every operation of the OpenAPI document and every agent tool, except endless streams. */
function allOperations(app: App): AnyOperation[] {
  const documented = [...listOperations(routesDocument(app))].flatMap(({ path, method, operation }): AnyOperation[] => {
    if (Object.values(operation.responses).some(({ content }) => content?.['text/event-stream'])) return []
    const among = (place: string): Schema => {
      const all = (operation.parameters ?? []).filter((one) => one.in === place)
      const properties = Object.fromEntries(all.map(({ name, schema, required }) => [name, { ...schema, required }]))
      return { type: 'object', properties, required: all.filter(({ required }) => required).map(({ name }) => name) }
    }
    const body = Object.values(operation.requestBody?.content ?? {})[0]?.schema ?? null
    return [{ method, path, query: among('query'), headers: among('header'), body, tool: null }]
  })
  const asked = agentTools.map((tool): AnyOperation => {
    const path = tool.http.path.replaceAll(/:(\w+)/g, '{$1}')
    const { properties, required = [] } = tool.input as unknown as Input
    const isFree = (name: string) => !path.includes(`{${name}}`)
    const fields = Object.fromEntries(Object.entries(properties).filter(([name]) => isFree(name)))
    const rest: Schema = { type: 'object', properties: fields, required: required.filter(isFree) }
    const [none, isRead]: [Schema, boolean] = [
      { type: 'object', properties: {}, required: [] },
      tool.http.method === 'GET',
    ]
    const parts = { query: isRead ? rest : none, headers: none, body: isRead ? null : rest }
    return { method: tool.http.method.toLowerCase(), path: `${basePath}${path}`, ...parts, tool }
  })
  return [...documented, ...asked]
}

/** Caller, as the headers of its requests. */
export interface Caller {
  name: string
  headers: Record<string, string>
}

export type FullWorkspace = Awaited<ReturnType<typeof fullWorkspace>>

let people = 0

/** Creates a workspace with some of everything, and callers with access to it. */
export async function fullWorkspace() {
  const w = await erasureWorld()
  const number = String(++people).padStart(4, '0')
  const word = `zqx${randomUUID().slice(0, 8)}`
  const phones = { phone: `558199123${number}`, variant: `55819123${number}` }
  const person: Person = { word, ...phones, email: `${word}@somewhere.example`, userId: `US.${word}` }
  await w.seed(person)
  await w.db.sql`update connections set number_id = ${person.phone} where id = ${w.sessionId}`
  await createOneOfEach(await signedInMember(w, 'owner'), word)
  const own = {
    ...w,
    operations: allOperations(w.app),
    person,
    callers: await callersOf(w),
    /** Ids by the list that contains them, with the ids in the path of that list. */
    ids: new Map<string, { list: string; id: string }[]>(),
    /** Reads all lists again. */
    refreshIds: (): Promise<void> => collectIds(own),
    /** Restores access that this operation may have removed. */
    restoreAccess: async ({ method, path }: AnyOperation): Promise<void> => {
      if (method === 'get' || !/\/(?:sign-out|sessions|me|keys|members\/\{userId\})(?:\/|$)/.test(path)) return
      own.callers = await callersOf(w)
    },
  }
  await own.refreshIds()
  return own
}

async function callersOf(w: ErasureWorld) {
  const [owner, member] = [await signedInMember(w, 'owner'), await signedInMember(w, 'member')]
  const passwordHash = await createPasswords(cheapPasswords).hash('four plain words together')
  await w.db.sql`update users set password_hash = ${passwordHash} where id in (${owner.userId}, ${member.userId})`
  const bearer = (value: string) => ({ authorization: `Bearer ${value}` })
  const key = async (settings: Parameters<typeof w.addKey>[0]) => bearer((await w.addKey(settings)).value)
  return {
    nobody: { name: 'nobody', headers: {} },
    key: { name: 'key', headers: await key({ scopes: [...scopes] }) },
    maskedKey: { name: 'masked key', headers: await key({ scopes: [...scopes], phoneVisibility: 'masked' }) },
    narrowKey: { name: 'narrow key', headers: await key({ scopes: ['leads.read'] }) },
    owner: { name: 'owner', headers: owner.headers },
    member: { name: 'member', headers: member.headers },
    operator: { name: 'operator', headers: bearer(testTeamToken) },
  } satisfies Record<string, Caller>
}

/** Creates one of each thing, with the word in everything that is not public by nature. */
async function createOneOfEach(owner: TestMember, word: string): Promise<void> {
  const things: [place: string, body: object][] = [
    ['/labels', { name: `VIP ${word.slice(-8)}`, color: 'red' }],
    ['/lead-fields', { key: 'cidade', label: 'Cidade', type: 'text' }],
    ['/canned-replies', { shortcut: 'hello', text: `Hello ${word}!` }],
    ['/saved-filters', { page: 'inbox', name: 'Mine', query: 'view=mine', shared: true }],
    ['/webhooks', { url: 'http://127.0.0.1:9/ours', events: ['lead.*'] }],
    ['/tokens', { name: 'CI', role: 'member' }],
    ['/invitations', { email: `${word}@example.com`, role: 'admin' }],
    ['/connections', { channel: 'unofficial', name: 'Van' }],
  ]
  for (const [place, body] of things) {
    const answer = await owner.call('POST', place, body)
    if (answer.status !== 201) throw new Error(`${place}: ${answer.status} ${JSON.stringify(answer.body)}`)
  }
}

/** Fills ids into a path, as far as the lists contain them. */
export function fillPath(w: FullWorkspace, path: string, random: Random): string {
  let [done, template] = ['', '']
  for (const segment of path.split('/').slice(1)) {
    // Both APIs to a thing share one list of ids.
    const list = template.replace(/^\/api\/v2/, '/api/v1/inbox')
    const known = segment.startsWith('{') ? (w.ids.get(list) ?? []) : []
    const here = known.filter((one) => one.list === done)
    const among = here.length > 0 ? here : known
    if (segment === '{workspaceId}') done += `/${w.workspaceId}`
    else if (!segment.startsWith('{')) done += `/${segment}`
    else done += `/${among.length > 0 ? oneOf(random, among).id : randomUUID()}`
    template += `/${segment}`
  }
  return done
}

/** Returns an id for a field of this name. */
export function idFor(w: FullWorkspace, name: string, random: Random): string {
  const kind = name.replace(/_?ids?$/i, '').toLowerCase()
  const lists = [...w.ids].filter(([, all]) => all.length > 0)
  const like = lists.filter(([list]) => kind !== '' && list.toLowerCase().split('/').at(-1)?.startsWith(kind))
  const among = like.length > 0 && random() < 0.8 ? like : lists
  return among.length === 0 ? randomUUID() : oneOf(random, oneOf(random, among)[1]).id
}

/** Collects ids from all lists; nested lists of the first few things after the things themselves. */
async function collectIds(w: FullWorkspace): Promise<void> {
  w.ids.clear()
  const lists = w.operations
    .filter(({ method, tool, path }) => method === 'get' && tool === null && /^\/api\/(?:team\/)?v1\//.test(path))
    .sort((one, other) => one.path.split('{').length - other.path.split('{').length)
  for (const { path } of lists) {
    const { headers } = path.startsWith('/api/team') ? w.callers.owner : w.callers.key
    const [before = '', after, more] = path.replace('{workspaceId}', w.workspaceId).split(/\{\w+\}/)
    const things = w.ids.get(path.slice(0, path.lastIndexOf('/{'))) ?? []
    const places = after === undefined ? [before] : things.slice(0, 3).map(({ id }) => `${before}${id}${after}`)
    for (const list of more === undefined ? places : []) {
      const answer = await w.app.inject({ method: 'GET', url: list, headers })
      if (answer.statusCode !== 200 || !String(answer.headers['content-type']).startsWith('application/json')) continue
      w.ids.set(path, [...(w.ids.get(path) ?? []), ...idsIn(answer.json()).map((id) => ({ list, id }))])
    }
  }
  // Some operations on leads use ids from a list with another path.
  const list = `/api/team/v1/workspaces/${w.workspaceId}/leads`
  const leads = (w.ids.get('/api/v1/leads') ?? []).map(({ id }) => ({ list, id }))
  if (leads.length > 0) w.ids.set('/api/team/v1/workspaces/{workspaceId}/leads', leads)
}

/** Returns the ids in an answer's first list. */
function idsIn(body: object): string[] {
  const list = Array.isArray(body) ? body : Object.values(body).find((value) => Array.isArray(value))
  return ((list ?? []) as ({ id?: string; eventId?: string; userId?: string } | null)[])
    .slice(0, 20)
    .map((one) => one?.id ?? one?.eventId ?? one?.userId)
    .filter((id) => typeof id === 'string')
}
