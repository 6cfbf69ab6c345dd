import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { newId } from '../../src/base/id.ts'
import { addLabel, marina } from '../support/inbox/inbox-world.ts'
import { reportWorld } from './report-world.ts'

/** Returns the statements of the document, for this role and workspace. */
async function documentedStatements(role: string, workspaceId: string): Promise<string[]> {
  const document = await readFile(new URL('../../../docs/reports.md', import.meta.url), 'utf8')
  const [, block = ''] = document.split('```sql')
  const [statements = ''] = block.split('```')
  return statements
    .replaceAll('<workspace id>', workspaceId)
    .replaceAll(/(role|to) reports\b/g, `$1 ${role}`)
    .replace("'reports'", `'${role}'`)
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
}

test('a database role reads the numbers of its workspaces through the views, and nothing else', async () => {
  const [w, other] = [await reportWorld(), await reportWorld()]
  for (const one of [w, other]) {
    const { id } = await one.newCustomer()
    await one.say(one.member, id)
    await one.lead({ source: 'ads', status: 'won', actualValue: 80 })
    await addLabel(one, 'VIP')
    await one.count()
  }
  const { sql } = w.db
  const role = `reader_${newId(w.clock.now()).replaceAll('-', '')}`
  const [create = '', usage = '', grant = '', insert = ''] = await documentedStatements(role, w.workspaceId)
  await sql.unsafe(create)
  try {
    await sql.unsafe(usage)
    await sql.unsafe(grant)
    const as = <T>(query: string) =>
      w.db.tx(async (tx) => {
        await tx.unsafe(`set local role ${role}`)
        return [...(await tx.unsafe(query))] as T[]
      })
    assert.deepEqual(await as('select * from report_daily'), [])
    await sql.unsafe(insert)
    const ids = await as<{ id: string }>(`
      select distinct workspace_id as id from report_daily
      union select workspace_id from report_records
      union select workspace_id from report_names`)
    assert.deepEqual(ids, [{ id: w.workspaceId }])
    const [won] = await as<{ count: number; amount: string }>(`
      select count, amount::text as amount
      from report_daily
      where dimension = 'source' and kind = 'lead' and outcome = 'won'`)
    assert.deepEqual([Number(won?.count), won?.amount], [1, '80.00'])
    const shown = JSON.stringify([await as('select * from report_records'), await as('select * from report_names')])
    for (const hidden of [marina.name ?? '', 'Hello', '55819']) assert.ok(!shown.includes(hidden), hidden)
    assert.ok(shown.includes('VIP'))
    for (const table of ['report_facts', 'report_rollups', 'report_readers', 'conversations', 'leads']) {
      await assert.rejects(as(`select * from ${table} limit 1`), /permission denied/, table)
    }
    await assert.rejects(as('delete from report_daily'), /permission denied|cannot delete/)
  } finally {
    await sql`delete from report_readers where role_name = ${role}`
    await sql.unsafe(`drop owned by ${role}`)
    await sql.unsafe(`drop role ${role}`)
  }
})
