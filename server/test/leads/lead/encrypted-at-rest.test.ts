import assert from 'node:assert/strict'
import { test } from 'node:test'
import { leadPath } from '../../support/leads/leads.ts'
import { pick } from '../../support/pick.ts'
import { makeTokens } from '../../support/tokens.ts'
import { type World, world } from '../../support/world.ts'

test('equal values are encrypted differently, and a value moved to another lead cannot be decrypted', async () => {
  const w = await world()
  const [a, b] = [await w.lead({ notes: 'same note' }), await w.lead({ notes: 'same note' })]
  const rows = await w.db.sql<{ id: string; person: Buffer; notes: Buffer }[]>`
    select id, person, notes
    from leads
    where workspace_id = ${w.workspaceId}
    order by id`
  assert.deepEqual(pick(rows, 'id'), [a.id, b.id])
  assert.notDeepEqual(rows[0]?.person, rows[1]?.person)
  assert.notDeepEqual(rows[0]?.notes, rows[1]?.notes)
  await w.db
    .sql`update leads set notes = ${rows[0]?.notes ?? ''} where workspace_id = ${w.workspaceId} and id = ${b.id}`
  const { status, body } = await w.call('GET', leadPath(b.id))
  assert.equal(status, 500)
  assert.equal(body.statusMessage, 'Internal error')
  assert.equal((await w.call('GET', leadPath(a.id))).status, 200)
})

test('two workspaces index the same phone and name differently', async () => {
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
