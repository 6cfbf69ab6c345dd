import assert from 'node:assert/strict'
import { test } from 'node:test'
import { leadPath, leadsPath } from '../../support/leads/leads.ts'
import { makeTokens } from '../../support/tokens.ts'
import { type World, world } from '../../support/world.ts'

const personal = {
  firstName: 'Wilhelmina',
  lastName: 'Quackenbush',
  email: 'Quackenbush.W@Zyxwvut.example',
  phone: '4915735985421',
  notes: 'Allergic to marzipan, call after sunset',
}
const later = { firstName: 'Xanthippe', phone: '4915735977777', notes: 'Moved to Ouagadougou' }
const custom = { k_diagnosis: 'hypochondria', k_income: 'seventeen-million' }
const bodyCustom = { passport_name: 'Rumpelstiltskin' }

/** Sends every kind of request that carries personal data, and some that fail with it. */
async function handle(w: World): Promise<void> {
  const query = custom
  const body = { ...personal, externalRef: 'r', customFieldValues: bodyCustom }
  const { id } = (await w.call('POST', leadsPath, { query, body })).body.data
  const match = { by: 'phone', value: personal.phone }
  await w.call('GET', leadPath(personal.phone))
  await w.call('GET', leadPath(personal.email))
  await w.call('GET', leadsPath, { query: { search: personal.lastName, limit: '1' } })
  await w.call('GET', leadsPath, { query: { search: personal.email.toLowerCase() } })
  await w.call('GET', leadsPath, { query: { search: personal.notes, limit: 'x' } })
  await w.call('GET', `${leadsPath}/${personal.phone}/${personal.firstName}`)
  await w.call('PATCH', leadPath(personal.phone), {
    body: { notes: personal.notes, email: `${personal.lastName} no address` },
  })
  await w.call('POST', leadsPath, { body: { ...personal, externalRef: 'r' } })
  await w.call('POST', leadsPath, { raw: `{"firstName":"${personal.firstName}` })
  await w.call('POST', `${leadsPath}/upsert`, { body: { match, lead: { ...personal, status: 'won' } } })
  const item = { match: { by: 'externalRef', value: 'b' }, lead: personal }
  await w.call('POST', `${leadsPath}/bulk-upsert`, {
    body: { items: [item, { match, lead: { email: personal.lastName } }] },
  })
  await w.call('PATCH', leadPath(id), { body: later })
  await w.call('DELETE', leadPath('b'))
  // A fault of the service in the middle of a request must not tell on the request either.
  await w.db.sql`alter table events add constraint refuse_all check (false) not valid`
  const failed = await w.call('POST', leadsPath, { query, body: { ...personal, customFieldValues: bodyCustom } })
  await w.db.sql`alter table events drop constraint refuse_all`
  assert.equal(failed.status, 500)
  assert.deepEqual(Object.keys(failed.body.data), ['requestId'])
}

/** Each value and its words, as they are, in lower case, reversed, as hex and as base64 from any offset. */
function tracesOf(values: string[]): Map<string, string> {
  const traces = new Map<string, string>()
  for (const value of values.flatMap((text) => [text, ...text.split(/[^\p{L}\p{N}]+/u)])) {
    // Shorter ones occur by chance in what is sealed.
    if (value.length < 7) continue
    for (const text of [value, value.toLowerCase()]) {
      for (const plain of [text, [...text].reverse().join('')]) {
        const hex = Buffer.from(plain).toString('hex')
        const base64s = base64sOf(plain).filter((trace) => trace.length >= 8)
        for (const trace of [plain, hex, ...base64s]) traces.set(trace.toLowerCase(), `${value} as ${trace}`)
      }
    }
  }
  return traces
}

function base64sOf(text: string): string[] {
  return [0, 1, 2].map((offset) => {
    const shifted = Buffer.concat([Buffer.alloc(offset), Buffer.from(text)]).toString('base64')
    // The characters at both ends depend on the bytes around.
    return shifted.slice(offset === 0 ? 0 : offset + 1, -4)
  })
}

/** Every value of every table of the database as text: `bytea` as hex, as base64 and as Latin letters. */
async function dump({ db }: World): Promise<Map<string, string>> {
  const columns = await db.sql<{ table_name: string; column_name: string; data_type: string }[]>`
    select c.table_name, c.column_name, c.data_type
    from information_schema.columns c
    join information_schema.tables t using (table_schema, table_name)
    where c.table_schema = 'public'
      and t.table_type = 'BASE TABLE'`
  const texts = new Map<string, string>()
  for (const { table_name: table, column_name: column, data_type: type } of columns) {
    const value = db.sql(column)
    const shown =
      type === 'bytea'
        ? db.sql`encode(${value}, 'hex') || ' ' || translate(encode(${value}, 'base64'), E'\n', '') || ' ' || encode(${value}, 'escape')`
        : db.sql`${value}::text`
    const rows = await db.sql<{ text: string | null }[]>`select ${shown} as text from ${db.sql(table)}`
    texts.set(
      `${table}.${column}`,
      rows
        .map((row) => row.text ?? '')
        .join('\n')
        .toLowerCase(),
    )
  }
  return texts
}

test('names, e-mails, phones, notes and custom values are nowhere in the database in any plain form, nor in the log', async () => {
  const w = await world()
  await handle(w)
  await makeTokens(w)
  const values = [personal, later, custom, bodyCustom].flatMap((fields) => Object.values(fields))
  const traces = tracesOf(values)
  assert.ok(traces.size > 100)
  const places = await dump(w)
  for (const column of ['leads.person', 'leads.notes', 'leads.custom_fields', 'events.payload', 'lead_search.tokens']) {
    assert.ok((places.get(column)?.length ?? 0) > 50, column)
  }
  places.set('the log', w.logLines.join('\n').toLowerCase())
  assert.ok((places.get('the log') ?? '').includes('request failed'))
  const found = [...places].flatMap(([place, text]) =>
    [...traces].filter(([trace]) => text.includes(trace)).map(([, what]) => `${place}: ${what}`),
  )
  assert.deepEqual(found, [])
})

test('the look for traces finds what stands in plain text', async () => {
  const w = await world()
  await w.lead({ externalRef: 'Brobdingnag' })
  const places = await dump(w)
  const traces = [...tracesOf(['Brobdingnag']).keys()]
  assert.ok(traces.some((trace) => places.get('leads.external_ref')?.includes(trace)))
  const encoded = Buffer.from(`x${'Brobdingnag'}y`)
  for (const text of [encoded.toString('hex'), encoded.toString('base64'), encoded.reverse().toString('latin1')]) {
    assert.ok(
      traces.some((trace) => text.toLowerCase().includes(trace)),
      text,
    )
  }
})

test('equal values are sealed differently, and a sealed value moved to another lead does not open', async () => {
  const w = await world()
  const [a, b] = [await w.lead({ notes: 'same note' }), await w.lead({ notes: 'same note' })]
  const rows = await w.db.sql<{ id: string; person: Buffer; notes: Buffer }[]>`
    select id, person, notes
    from leads
    where workspace_id = ${w.workspaceId}
    order by id`
  assert.deepEqual(
    rows.map((row) => row.id),
    [a.id, b.id],
  )
  assert.notDeepEqual(rows[0]?.person, rows[1]?.person)
  assert.notDeepEqual(rows[0]?.notes, rows[1]?.notes)
  await w.db
    .sql`update leads set notes = ${rows[0]?.notes ?? ''} where workspace_id = ${w.workspaceId} and id = ${b.id}`
  const { status, body } = await w.call('GET', leadPath(b.id))
  assert.equal(status, 500)
  assert.equal(body.statusMessage, 'Internal error')
  assert.equal((await w.call('GET', leadPath(a.id))).status, 200)
})

test('two workspaces index one phone and one name differently', async () => {
  const [w, other] = [await world(), await world()]
  const fields = { firstName: 'Wilhelmina', phone: '4915735985421', email: 'w@example.com' }
  const row = async (of: World, id: string) => {
    await makeTokens(of)
    const { db, workspaceId } = of
    const [found] = await db.sql`
      select l.phone_index, l.email_index, s.tokens
      from leads l
      join lead_search s on s.workspace_id = l.workspace_id and s.lead_id = l.id
      where l.workspace_id = ${workspaceId}
        and l.id = ${id}`
    return found
  }
  const [here, there] = [await row(w, (await w.lead(fields)).id), await row(other, (await other.lead(fields)).id)]
  assert.notDeepEqual(here?.phone_index, there?.phone_index)
  assert.notDeepEqual(here?.email_index, there?.email_index)
  const shared = here?.tokens.filter((token: number) => there?.tokens.includes(token))
  assert.deepEqual(shared, [])
})
