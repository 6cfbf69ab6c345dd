import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fullWorkspace } from '../support/faults/full-workspace.ts'
import { ask, type Manner, requestOf } from '../support/faults/fuzz.ts'
import { randomFrom } from '../support/faults/values.ts'

const rounds = Number(process.env.PLAINTEXT_ROUNDS ?? 1)
const seed = Number(process.env.PLAINTEXT_SEED ?? 20_260_310)
/** The normal test run calls each operation once. */
const manners: readonly Manner[] =
  process.env.PLAINTEXT_ROUNDS === undefined ? ['fitting'] : ['fitting', 'fitting', 'nearly']

/** Names and settings of a team, and what decision 003 leaves unencrypted. */
const plain: Record<string, string[]> = {
  api_keys: ['name'],
  broadcasts: ['name'],
  canned_replies: ['shortcut', 'text'],
  connections: ['name'],
  forms: ['name', 'title', 'description'],
  // What the business tells everyone; see decision 048.
  knowledge_articles: ['title', 'body', 'tags', 'source_address', 'search', 'title_search'],
  knowledge_versions: ['title', 'body', 'tags'],
  labels: ['name'],
  lead_fields: ['key', 'label', 'choices'],
  leads: ['external_ref', 'unique_code'],
  team_service_settings: ['holidays'],
  team_tokens: ['name'],
  teams: ['name'],
  webhook_endpoints: ['description'],
  workspaces: ['name', 'holidays'],
  satisfaction_settings: ['settings'],
  // The scene derives the id from the word.
  session_sends: ['id'],
}

test('data written by any operation appears in no table and no log as plaintext, except names and settings of a team', async (t) => {
  const random = randomFrom(seed)
  let requests = 0
  const words: string[] = []
  for (let round = 0; round < rounds; round++) {
    const w = await fullWorkspace()
    words.push(w.person.word)
    for (const op of w.operations) {
      const isTeam = op.path.startsWith('/api/team')
      const caller = isTeam ? w.callers.owner : op.path.startsWith('/api/') ? w.callers.key : w.callers.nobody
      for (const manner of manners) {
        await ask(w, requestOf(w, op, manner, random), caller)
        requests++
      }
      await w.restoreAccess(op)
    }
    const spellings = words.flatMap(spellingsOf)
    const found = new Set<string>()
    for (const line of w.logLines) if (spellings.some((one) => line.includes(one))) found.add(`log: ${line}`)
    for (const place of await placesWith(w.db, spellings)) if (!isPlain(place)) found.add(place)
    assert.deepEqual([...found].sort(), [])
  }
  t.diagnostic(`${requests} requests`)
})

const isPlain = (place: string): boolean => {
  const [table = '', column = ''] = place.split('.')
  return plain[table]?.includes(column) ?? false
}

/** Returns the word as is, in capitals, reversed, in hex as in a dump, and in base64 at each of the three offsets. */
function spellingsOf(word: string): string[] {
  const bytes = Buffer.from(word)
  const base64 = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64')
    return text.slice(Math.ceil((offset * 4) / 3), -4)
  })
  return [word, word.toUpperCase(), [...word].reverse().join(''), bytes.toString('hex'), ...base64]
}

/** Returns the columns, as `table.column`, that contain one of the spellings. */
async function placesWith(
  { sql }: Awaited<ReturnType<typeof fullWorkspace>>['db'],
  spellings: string[],
): Promise<string[]> {
  const tables = await sql<{ name: string }[]>`
    select table_name as name
    from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE'`
  const places: string[] = []
  for (const { name } of tables) {
    const rows = await sql<{ column: string }[]>`
      select distinct field.key as column
      from ${sql(name)} t, jsonb_each_text(to_jsonb(t)) field
      where exists (select 1 from unnest(${spellings}::text[]) one where position(one in field.value) > 0)`
    places.push(...rows.map(({ column }) => `${name}.${column}`))
  }
  return places
}
