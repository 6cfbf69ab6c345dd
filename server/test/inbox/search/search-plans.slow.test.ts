import assert from 'node:assert/strict'
import { test } from 'node:test'
import { indexInbox } from '../../../src/inbox/search/index-inbox.ts'
import { statementsOf, vacuum } from '../../support/database.ts'
import { fillBlindMessages, fillConversations } from '../../support/fill.ts'
import { addAgent, type InboxWorld, inboxWorld } from '../../support/inbox/inbox-world.ts'
import { signedInMember, type TestMember } from '../../support/member.ts'
import { badPlans, forgetStatistics, waysTo } from '../../support/plans.ts'
import { makeInboxTokens } from '../../support/tokens.ts'

interface Filled {
  w: InboxWorld
  member: TestMember
}

const random = (count: number) => Array.from({ length: count }, () => Math.floor(Math.random() * 100_000))

/** So many conversations, and messages with tokens that nobody looks for; and one that says what is looked for. */
async function filled(count: number): Promise<Filled> {
  const w = await inboxWorld()
  const { id: keyId } = await addAgent(w)
  const member = await signedInMember(w)
  const filling = { ...w, keyring: await w.vault.keyring(w.workspaceId), now: w.clock.now() }
  const ids = await fillConversations(filling, { connectionId: w.connectionId, keyId, count })
  await w.customerWrites('The blue sofa')
  await makeInboxTokens(w)
  await fillBlindMessages(filling, ids.slice(0, 2_000), 2)
  const tokens = random(20 * 50)
  await w.db.sql`
    insert into message_search (workspace_id, message_id, index_version, epoch, tokens)
    select ${w.workspaceId}::uuid, gen_random_uuid(), 1, 0, (${tokens}::integer[])[n % 49 * 20 + 1 : n % 49 * 20 + 20]
    from generate_series(1, ${count}) as n`
  return { w, member }
}

async function searchEveryWay({ w, member }: Filled): Promise<void> {
  for (const search of ['sofa', 'blue sof', '"blue sofa"', '机']) {
    const { status, body } = await member.call('GET', `/inbox/messages?limit=1&search=${encodeURIComponent(search)}`)
    assert.equal(status, 200, JSON.stringify(body))
    if (body.cursor === null) continue
    const next = `/inbox/messages?limit=1&search=${encodeURIComponent(search)}&cursor=${body.cursor}`
    assert.equal((await member.call('GET', next)).status, 200)
  }
  for (const search of ['Nobody', 'li', '伟', '998877', '34955501101']) {
    for (const sort of ['recent', 'updated', 'waiting']) {
      const { status } = await member.call(
        'GET',
        `/inbox/conversations?sort=${sort}&status=open&search=${encodeURIComponent(search)}`,
      )
      assert.equal(status, 200)
    }
  }
  w.clock.advance(100_000)
  await w.customerWrites('One more')
  w.clock.advance(100_000)
  await indexInbox(w)
}

const tables = ['conversations', 'messages', 'message_search', 'conversation_search']

test('no search and no worker reads a table from end to end, in a large workspace as in a small one, whatever is known', async () => {
  const [large, small] = [await filled(20_000), await filled(100)]
  await vacuum()
  for (const isKnown of [true, false]) {
    if (!isKnown) await forgetStatistics(large.w.db, tables)
    for (const each of [large, small]) {
      const statements = await statementsOf(() => searchEveryWay(each))
      assert.deepEqual(await badPlans(each.w.db, statements, tables), [], isKnown ? 'known' : 'unknown')
      const byTokens = statements.filter(({ text }) => /tokens @>/.test(text))
      assert.ok(byTokens.length > (each === large ? 5 : 1), `${byTokens.length} by tokens`)
      for (const statement of byTokens) {
        for (const table of ['message_search', 'conversation_search']) {
          if (!statement.text.includes(table)) continue
          const ways = await waysTo(each.w.db, statement, table)
          assert.ok(ways.includes(`${table}_tokens`) && !ways.includes(`${table}_pkey`), `${ways} ${statement.text}`)
        }
      }
    }
  }
})
