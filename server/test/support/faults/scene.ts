import { randomUUID } from 'node:crypto'
import { scopes } from '../../../src/access/keys/scopes.ts'
import { createPasswords } from '../../../src/access/users/passwords.ts'
import { type ErasureWorld, erasureWorld, type Person } from '../erasure-world.ts'
import { signedInMember, type TestMember } from '../member.ts'
import { testTeamToken } from '../world.ts'
import { type AnyOperation, allOperations } from './operations.ts'
import { oneOf, type Random } from './values.ts'

/** Who asks, by what their requests carry. */
export interface Caller {
  name: string
  headers: Record<string, string>
}

/** A workspace with some of everything, and those who may ask for it. */
export interface Furnished extends ErasureWorld {
  operations: AnyOperation[]
  person: Person
  callers: Record<'nobody' | 'key' | 'maskedKey' | 'narrowKey' | 'owner' | 'member' | 'operator', Caller>
  /** Ids by the list in which they stand, with what the list's own path had in it. */
  ids: Map<string, { list: string; id: string }[]>
  /** Reads all lists again. */
  look(): Promise<void>
  /** Lets those in again whom this operation may have shut out. */
  letIn(op: AnyOperation): Promise<void>
}

let people = 0

export async function furnished(): Promise<Furnished> {
  const w = await erasureWorld()
  const number = String(++people).padStart(4, '0')
  const word = `zqx${randomUUID().slice(0, 8)}`
  const person: Person = {
    word,
    phone: `558199123${number}`,
    variant: `55819123${number}`,
    email: `${word}@somewhere.example`,
    userId: `US.${word}`,
  }
  await w.seed(person)
  await w.db.sql`update connections set number_id = ${person.phone} where id = ${w.sessionId}`
  const owner = await signedInMember(w, 'owner')
  await furnish(owner, word)
  const own: Furnished = {
    ...w,
    operations: allOperations(w.app),
    person,
    callers: await callersOf(w),
    ids: new Map(),
    look: () => lookAround(own),
    letIn: async ({ method, path }) => {
      if (method === 'get' || !/\/(?:sign-out|sessions|me|keys|members\/\{userId\})(?:\/|$)/.test(path)) return
      own.callers = await callersOf(w)
    },
  }
  await own.look()
  return own
}

/** So cheap that a password is guessed at as fast as anything else. */
const passwords = createPasswords({ memoryKib: 64, passes: 1 })

async function callersOf(w: ErasureWorld): Promise<Furnished['callers']> {
  const owner = await signedInMember(w, 'owner')
  const member = await signedInMember(w, 'member')
  await w.db.sql`
    update users
    set password_hash = ${await passwords.hash('four plain words together')}
    where id in (${owner.userId}, ${member.userId})`
  const key = async (settings: Parameters<typeof w.addKey>[0]) => bearer((await w.addKey(settings)).value)
  return {
    nobody: { name: 'nobody', headers: {} },
    key: { name: 'key', headers: await key({ scopes: [...scopes] }) },
    maskedKey: { name: 'masked key', headers: await key({ scopes: [...scopes], phoneVisibility: 'masked' }) },
    narrowKey: { name: 'narrow key', headers: await key({ scopes: ['leads.read'] }) },
    owner: { name: 'owner', headers: owner.headers },
    member: { name: 'member', headers: member.headers },
    operator: { name: 'operator', headers: bearer(testTeamToken) },
  }
}

const bearer = (value: string) => ({ authorization: `Bearer ${value}` })

/** One of each thing that a team makes, with the word in whatever is not public by its nature. */
async function furnish(owner: TestMember, word: string): Promise<void> {
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

/** Path with the ids of things in it, as far as the lists show some. */
export function filled(w: Furnished, path: string, random: Random): string {
  let done = ''
  let template = ''
  for (const segment of path.split('/').slice(1)) {
    const isName = segment.startsWith('{')
    const known = isName && segment !== '{workspaceId}' ? (w.ids.get(listOf(template)) ?? []) : []
    const here = known.filter(({ list }) => list === done)
    const among = here.length > 0 ? here : known
    const id = segment === '{workspaceId}' ? w.workspaceId : among.length > 0 ? oneOf(random, among).id : randomUUID()
    done += `/${isName ? id : segment}`
    template += `/${segment}`
  }
  return done
}

/** Both interfaces to a thing list it once; leads are found in a list of another place for a part of their operations. */
const listOf = (template: string): string => template.replace(/^\/api\/v2/, '/api/v1/inbox')

/** An id of what a field of this name is about. */
export function idFor(w: Furnished, name: string, random: Random): string {
  const kind = name.replace(/_?ids?$/i, '').toLowerCase()
  const lists = [...w.ids].filter(([, all]) => all.length > 0)
  const like = lists.filter(([list]) => kind !== '' && list.toLowerCase().split('/').at(-1)?.startsWith(kind))
  const among = like.length > 0 && random() < 0.8 ? like : lists
  return among.length === 0 ? randomUUID() : oneOf(random, oneOf(random, among)[1]).id
}

/** Notes the ids that the lists show, those of lists within things after those of the things. */
async function lookAround(w: Furnished): Promise<void> {
  w.ids.clear()
  const lists = w.operations
    .filter(({ method, verb }) => method === 'get' && verb === null)
    .sort((one, other) => one.path.split('{').length - other.path.split('{').length)
  for (const { path } of lists) {
    if (!/^\/api\/(?:team\/)?v1\//.test(path)) continue
    const { headers } = path.startsWith('/api/team') ? w.callers.owner : w.callers.key
    for (const list of placesOf(w, path)) {
      const answer = await w.app.inject({ method: 'GET', url: list, headers })
      if (answer.statusCode !== 200 || !String(answer.headers['content-type']).startsWith('application/json')) continue
      const found = idsIn(answer.json()).map((id) => ({ list, id }))
      w.ids.set(path, [...(w.ids.get(path) ?? []), ...found])
    }
  }
  const leads = w.ids.get('/api/v1/leads') ?? []
  if (leads.length === 0) return
  w.ids.set(
    '/api/team/v1/workspaces/{workspaceId}/leads',
    leads.map(({ id }) => ({ list: `/api/team/v1/workspaces/${w.workspaceId}/leads`, id })),
  )
}

/** The path itself, or one for each of the first few things that it is about. */
function placesOf(w: Furnished, path: string): string[] {
  const inWorkspace = path.replace('{workspaceId}', w.workspaceId)
  const [before = '', after] = inWorkspace.split(/\{\w+\}/)
  if (after === undefined) return [inWorkspace]
  if (inWorkspace.split('{').length > 2) return []
  const template = path.slice(0, path.lastIndexOf('/{'))
  return (w.ids.get(template) ?? []).slice(0, 3).map(({ id }) => `${before}${id}${after}`)
}

/** Ids of the things in an answer's first list. */
function idsIn(body: unknown): string[] {
  if (typeof body !== 'object' || body === null) return []
  const values: unknown[] = Array.isArray(body) ? [body] : Object.values(body)
  const list = values.find((value) => Array.isArray(value)) as unknown[] | undefined
  if (list === undefined) return []
  return list.slice(0, 20).flatMap((one) => {
    const { id, eventId, userId } = (one ?? {}) as Record<string, unknown>
    const found = id ?? eventId ?? userId
    return typeof found === 'string' ? [found] : []
  })
}
