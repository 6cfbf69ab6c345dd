import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { eventsPath } from '../../support/events/feed-world.ts'
import { fillForm } from '../../support/form-world.ts'
import {
  conversationPath,
  customerMessage,
  type InboxWorld,
  inboxPath,
  inboxWorld,
} from '../../support/inbox/inbox-world.ts'
import { leadPath, leadsPath } from '../../support/leads/leads.ts'
import { makeTokens } from '../../support/tokens.ts'
import type { Answer, CallOptions } from '../../support/world.ts'

// Two workspaces that are alike but for the hidden digits of one customer. A masked key asks both the same, in a random
// order of everything that it can ask, and must not be able to tell them apart: then nothing in its responses depends on those
// digits. Only a complete number that is named may tell them apart; guesses.test.ts holds how seldom one can be tried.

const worlds = Number(process.env.MASK_WORLDS ?? 1)
const seed = Number(process.env.MASK_SEED ?? 20_261_122)
const callsEach = Number(process.env.MASK_CALLS ?? 60)

const digit = fc.nat(9).map(String)
const digitsOf = (length: number) =>
  fc.array(digit, { minLength: length, maxLength: length }).map((all) => all.join(''))

/** Two numbers with one mask. */
const twins = fc
  .record({
    start: fc.oneof(
      fc.constantFrom('55819', '55119', '52155', '54911', '16505', '49151'),
      digitsOf(4).map((d) => `4${d}`),
    ),
    hidden: fc.integer({ min: 2, max: 6 }).chain((length) => fc.tuple(digitsOf(length), digitsOf(length))),
    end: digitsOf(3),
  })
  .filter(({ hidden: [a, b] }) => a !== b)
  .map(({ start, hidden: [a, b], end }) => [start + a + end, start + b + end] as const)

/** How a number may stand in a text: whole, grouped, without its country, only its end, among words. */
const spellings: ((phone: string) => string)[] = [
  (phone) => phone,
  (phone) => `+${phone}`,
  (phone) => `00${phone}`,
  (phone) => `+${phone.slice(0, 2)} (${phone.slice(2, 4)}) ${phone.slice(4, -4)}-${phone.slice(-4)}`,
  (phone) => phone.slice(2),
  (phone) => `${phone.slice(2, 4)} ${phone.slice(4)}`,
  (phone) => `Ana ${phone.slice(-8)}`,
  (phone) => `Ana ${phone.slice(-4)} Silva`,
  (phone) => `${[...phone].join('.')} Duarte`,
  (phone) => phone.replace(/\d/g, (each) => String.fromCodePoint(0xff10 + Number(each))),
]
const spelling = fc.constantFrom(...spellings)
const maybe = (text: string) => fc.option(spelling, { freq: 1 }).map((spell) => spell ?? (() => text))

const stock = fc.record({
  firstName: maybe('Marina'),
  lastName: maybe('Duarte'),
  email: fc.constantFrom(
    () => 'marina@mail.example',
    (phone: string) => `${phone}@mail.example`,
    (phone: string) => `m.${phone.slice(2)}@mail.example`,
  ),
  externalRef: fc.constantFrom(
    () => 'crm-7',
    (phone: string) => phone,
    (phone: string) => `wa-${phone}`,
    (phone: string) => phone.slice(2),
  ),
  uniqueCode: fc.constantFrom(
    () => 'L-7',
    (phone: string) => `L${phone}`,
  ),
  k_tel: spelling,
  k_link: fc.constant((phone: string) => `https://chat.example/${phone}`),
  mobile: fc.constantFrom(...spellings.slice(0, 6)),
  contact: maybe('Marina'),
})

type Stock = typeof stock extends fc.Arbitrary<infer T> ? T : never

/** One of the two workspaces, and what the masked key knows of it. */
interface Side extends InboxWorld {
  masked: string
  leads: string[]
  conversation: string
  /** What answers gave to go on with. */
  cursors: { list: string | null; feed: string | null }
}

async function side(phone: string, has: Stock, start: Date): Promise<Side> {
  const w = await inboxWorld({ key: { scopes: ['leads.write', 'leads.bulk', 'leads.read'] } })
  w.clock.set(start)
  const { value: masked } = await w.addKey({
    scopes: ['leads.read', 'leads.write', 'leads.delete', 'leads.bulk', 'inbox.read', 'inbox.write'],
    phoneVisibility: 'masked',
  })
  const { firstName, lastName, email, externalRef, uniqueCode, k_tel, k_link, mobile, contact } = has
  const leads: string[] = []
  const made = await w.lead({
    firstName: firstName(phone),
    lastName: lastName(phone),
    email: email(phone),
    externalRef: externalRef(phone),
    uniqueCode: uniqueCode(phone),
    phone,
    customFieldValues: { k_tel: k_tel(phone), k_link: k_link(phone) },
  })
  leads.push(made.id)
  w.clock.advance(10)
  leads.push((await w.lead({ firstName: 'Bob', externalRef: 'crm-8', uniqueCode: 'L-8', phone: '4930111222333' })).id)
  w.clock.advance(10)
  const fields = ['phone', 'mobile'].map((key) => ({ key, type: 'phone' }) as const)
  await fillForm(w, fields, { firstName: 'Carla', phone: `+${phone}`, mobile: mobile(phone) })
  const all = (await w.call('GET', leadsPath)).body.data
  leads.push(...all.map(({ id }: { id: string }) => id).filter((id: string) => !leads.includes(id)))
  w.clock.advance(10)
  const customer = { userId: 'BR.1', parentUserId: null, phone, name: contact(phone) }
  const externalId = `wamid.${Buffer.from(`xx${phone}yy`).toString('base64')}`
  const { id } = await w.customerWrites('Hi', { externalId, customer })
  w.clock.advance(10)
  const text = `The customer changed from ${phone} to 4930111222333`
  await w.deliver(customerMessage({ at: w.clock.now(), kind: 'system', customer, text, opensWindow: false }))
  return { ...w, masked, leads, conversation: id, cursors: { list: null, feed: null } }
}

type Request = [method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, options?: CallOptions]
type Call = (side: Side) => Request
type Of<T> = T | ((side: Side) => T)

const of = <T extends string | object>(given: Of<T>, side: Side): T =>
  typeof given === 'function' ? (given as (side: Side) => T)(side) : given
const get =
  (path: Of<string>, query: Of<Record<string, string>> = {}): Call =>
  (side) => ['GET', of(path, side), { query: of(query, side) }]
const write =
  (
    method: 'POST' | 'PATCH' | 'DELETE',
    path: Of<string>,
    body?: Of<object>,
    query: Record<string, string> = {},
  ): Call =>
  (side) => [method, of(path, side), { query, ...(body !== undefined && { body: of(body, side) }) }]
const lead =
  (n: number) =>
  ({ leads }: Side) =>
    leads[n] ?? ''
const pathOf = (n: number) => (side: Side) => leadPath(lead(n)(side))
const patch = (n: number, body: object) => write('PATCH', pathOf(n), body)

/** Everything that a masked key can ask. Nothing of it names the customer's number, but any part of it, and others. */
function callsAbout([one, two]: readonly [string, string], has: Stock): fc.Arbitrary<Call> {
  const wrong = digitsOf(one.length - 8)
    .map((hidden) => one.slice(0, 5) + hidden + one.slice(-3))
    .filter((phone) => phone !== one && phone !== two)
  const part = fc
    .record({ of: fc.constantFrom(one, two), from: fc.nat(one.length - 3), length: fc.integer({ min: 1, max: 7 }) })
    .map(({ of, from, length }) => of.slice(from, from + length))
  const spelt = fc.tuple(spelling, wrong).map(([spell, phone]) => spell(phone))
  const longPart = fc.constantFrom(one.slice(1), two.slice(0, -1), one.slice(2), two.slice(2), one.slice(0, -1))
  const text = fc.oneof(part, longPart, spelt, wrong)
  // The very text that one of them has: writing it must not be told from writing another, or it would be found by writing.
  const stored = fc
    .tuple(fc.constantFrom('firstName', 'lastName', 'email', 'k_tel', 'k_link'), fc.constantFrom(one, two))
    .map(([name, phone]) => {
      const value = has[name as keyof Stock](phone)
      return name.startsWith('k_') ? { customFieldValues: { [name]: value } } : { [name]: value }
    })
  // A reference must be the same to find a lead: a key that writes a number into one can look it up.
  const reference = fc.oneof(part, spelt, wrong)
  const search = fc.oneof(
    text,
    fc.constantFrom('marina', 'ana', 'mail.example', 'L-', 'wa-', '+55 81', one, two, `+${one}`),
  )
  const which = fc.nat(2)
  const field = fc.constantFrom('firstName', 'lastName')
  const ofConversation = ({ conversation }: Side) => conversationPath(conversation)
  const after = (name: string, cursor: string | null) => (cursor === null ? {} : { [name]: cursor })

  const reads = fc.oneof(
    fc
      .tuple(search, fc.constantFrom('createdAt', 'updatedAt'), fc.constantFrom('asc', 'desc'))
      .map(([term, sortBy, sortOrder]) => get(leadsPath, { search: term, sortBy, sortOrder })),
    fc.constant(get(leadsPath, ({ cursors }) => ({ limit: '1', ...after('cursor', cursors.list) }))),
    fc.constantFrom('new', 'won').map((status) => get(leadsPath, { status, limit: '2' })),
    which.map((n) => get(pathOf(n))),
    fc.oneof(part, wrong).map((name) => get(leadPath(name))),
    fc.constant(get(eventsPath, ({ cursors }) => ({ limit: '5', ...after('after', cursors.feed) }))),
    fc.constant(get(`${inboxPath}/conversations`)),
    fc.oneof(wrong, part).map((phone) => get(`${inboxPath}/conversations`, { phone })),
    fc.constant(get(ofConversation)),
    fc.constant(get((side) => `${ofConversation(side)}/messages`)),
  )
  const upsert = (path: 'upsert' | 'bulk-upsert', body: Of<object>, dryRun = 'true') =>
    write('POST', `${leadsPath}/${path}`, body, { dryRun })
  const writes = fc.oneof(
    stored.map((body) => patch(0, body)),
    stored.map((fields) => upsert('upsert', (side) => ({ match: { by: 'id', value: lead(0)(side) }, lead: fields }))),
    fc.tuple(which, field, text).map(([n, name, value]) => patch(n, { [name]: value })),
    fc
      .tuple(which, fc.constantFrom('k_probe', 'k_tel', 'tel'), text)
      .map(([n, key, value]) => patch(n, { customFieldValues: { [key]: value } })),
    fc.tuple(which, reference).map(([n, externalRef]) => patch(n, { externalRef })),
    fc
      .tuple(fc.constantFrom(1, 2), fc.oneof(wrong, part, fc.constantFrom('55819*****568', 'x')))
      .map(([n, phone]) => patch(n, { phone })),
    which.map((n) => patch(n, { status: 'won' })),
    fc
      .tuple(fc.constantFrom('phone', 'externalRef', 'uniqueCode'), fc.oneof(wrong, part), fc.boolean(), fc.boolean())
      .map(([by, value, createIfMissing, dryRun]) => {
        const made = { firstName: 'Dora', uniqueCode: `D${value}` }
        return upsert('upsert', { match: { by, value }, lead: made, createIfMissing }, String(dryRun))
      }),
    fc.array(fc.tuple(which, wrong, text), { minLength: 1, maxLength: 12 }).map((rows) =>
      upsert('bulk-upsert', (side) => ({
        items: rows.flatMap(([n, phone, value]) => [
          { match: { by: 'phone', value: phone }, lead: { notes: 'x' }, createIfMissing: false },
          { match: { by: 'id', value: lead(n)(side) }, lead: { phone, lastName: value } },
        ]),
      })),
    ),
    wrong.map((phone) => write('POST', leadsPath, { firstName: 'Eva', uniqueCode: `E${phone}`, phone })),
    fc.constant(write('DELETE', pathOf(2))),
    fc.constant(write('POST', (side) => `${pathOf(2)(side)}/restore`)),
    fc.constantFrom('pending', 'resolved').map((status) => write('PATCH', ofConversation, { status })),
    fc.tuple(wrong, fc.uuid()).map(([to, external_id]) =>
      write('POST', `${inboxPath}/echoes`, ({ connectionId: connection_id }) => ({
        ...{ connection_id, to, external_id, kind: 'text', body: 'Hello' },
      })),
    ),
  )
  return fc.oneof({ arbitrary: reads, weight: 3 }, { arbitrary: writes, weight: 2 })
}

/** An answer without what is chance: ids, generated codes, cursors, stand-ins, each named by the order of its first coming. */
function plain(names: Map<string, string>, { status, body, headers }: Answer): string {
  const name = (found: string) => {
    const known = names.get(found) ?? `#${names.size}`
    names.set(found, known)
    return known
  }
  const text = JSON.stringify({ status, body, retryAfter: headers['retry-after'] }, (key, value) =>
    /cursor/i.test(key) && value !== null ? 'cursor' : value,
  )
  return text.replace(
    new RegExp(`[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|masked_[\\w-]+|${madeUpCode.source}`, 'g'),
    name,
  )
}

const madeUpCode = /\bL[0-9A-HJKMNP-TV-Z]{11}\b/g

/** Whether a search has found a lead by a code that was made up. */
function isByCode(requests: readonly Request[], answers: readonly Answer[]): boolean {
  return requests.some(([, , options]) => {
    const { search } = (options?.query ?? {}) as { search?: string }
    const term = search?.trim().toUpperCase()
    const codes = answers.flatMap(({ body }) => JSON.stringify(body).match(madeUpCode) ?? [])
    return term !== undefined && term !== '' && codes.some((code) => code.includes(term))
  })
}

/** Whether an answer gives the number away: in digits, with anything between them, or in base64. */
function tells(body: unknown, phone: string): boolean {
  const text = JSON.stringify(body)
  const encoded = [0, 1, 2].map((at) =>
    Buffer.from('x'.repeat(at) + phone)
      .toString('base64')
      .slice(at === 0 ? 0 : 4, 12),
  )
  const runs = text.match(/\d(?:[^\p{L}\p{N}"]{0,3}\d)*/gu) ?? []
  const end = phone.slice(4, -2)
  const isIn = runs.some((run) => run.replace(/\D/g, '').includes(phone.slice(2)))
  return isIn || (end.length > 7 && text.includes(end)) || encoded.some((code) => text.includes(code))
}

async function ask(side: Side, call: Call): Promise<Answer> {
  const [method, path, options] = call(side)
  const answer = await side.call(method, path, { ...options, key: side.masked })
  if (path === leadsPath && answer.body.pagination) side.cursors.list = answer.body.pagination.nextCursor
  if (path === eventsPath && answer.status === 200) side.cursors.feed = answer.body.next_cursor
  return answer
}

test('no sequence of calls of a masked key distinguishes two workspaces that differ only in hidden digits', async () => {
  const scene = fc.tuple(twins, stock).chain(([phones, has]) =>
    fc.record({
      phones: fc.constant(phones),
      has: fc.constant(has),
      calls: fc.array(fc.tuple(callsAbout(phones, has), fc.constantFrom(20, 20, 20, 9_000)), {
        minLength: callsEach,
        maxLength: callsEach,
      }),
      withTokens: fc.boolean(),
    }),
  )
  let refused = 0
  for (const { phones, has, calls, withTokens } of fc.sample(scene, { numRuns: worlds, seed })) {
    const sides: Side[] = []
    // Both begin at the same moment, so that they have the same times.
    const start = new Date((await inboxWorld()).clock.now().getTime() + 120_000)
    for (const phone of phones) sides.push(await side(phone, has, start))
    if (withTokens) for (const each of sides) await makeTokens(each)
    const names = sides.map(() => new Map<string, string>())
    const said = new Set<string>()
    for (const [call, pauseMs] of calls) {
      const shown: string[] = []
      const answers: Answer[] = []
      for (const [n, each] of sides.entries()) {
        const asked = JSON.stringify(call(each))
        const answer = await ask(each, call)
        answers.push(answer)
        const phone = phones[n] ?? ''
        // What the key has written itself it may read.
        if (asked.includes(phone.slice(2))) said.add(phone)
        const isTold = tells(answer.body, phone) && !said.has(phone)
        assert.ok(!isTold, `${phone}: ${asked} → ${JSON.stringify(answer.body)}`)
        if (answer.status === 429) refused++
        shown.push(plain(names[n] ?? new Map(), answer))
      }
      // By chance one of the codes that are made up holds what is looked for, and from here on the two have different pages.
      if (shown[0] !== shown[1] && isByCode(sides.map(call), answers)) break
      assertSame(shown, `${JSON.stringify(has)} ${phones.join()} ${JSON.stringify(sides.map(call))}`)
      sides[0]?.clock.advance(pauseMs)
    }
  }
  // Few worlds may not come so far.
  assert.ok(refused > 0 || worlds < 5, 'guesses were used up')
})

function assertSame([one = '', two = '']: readonly string[], what: string): void {
  if (one === two) return
  const at = Math.max(0, [...one].findIndex((letter, n) => letter !== two[n]) - 100)
  assert.fail(`${what}\n${one.slice(at, at + 200)}\n${two.slice(at, at + 200)}`)
}
