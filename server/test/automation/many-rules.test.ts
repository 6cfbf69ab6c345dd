import assert from 'node:assert/strict'
import { test } from 'node:test'
import { statementCountOf } from '../support/database.ts'
import { marina } from '../support/inbox/inbox-world.ts'
import { automationWorld } from './automation-world.ts'

test('1,000 rules that match nothing add no statement to a received message, and none each to judging it', async () => {
  const w = await automationWorld()
  const { phone } = await w.newCustomer()
  let messages = 0
  const receive = () => w.customerWrites(`Hello ${++messages}`, { customer: { ...marina, phone } })
  await receive()
  const withoutRules = await statementCountOf(receive)
  const ruleId = await w.addRule({
    conditions: [{ field: 'message_text', operator: 'any_of', values: ['price'] }],
    actions: [{ kind: 'reply', text: 'One moment.' }],
  })
  await receive()
  const judgeOne = await statementCountOf(w.drain)
  await w.db.sql`
    insert into automation_rules (
      workspace_id, id, name, position, enabled, trigger, after_minutes, conditions, actions, stops, follows_rules, version,
      enabled_at, created_at, updated_at
    )
    select workspace_id, gen_random_uuid(), name, n, enabled, trigger, after_minutes, conditions, actions, stops,
      follows_rules, version, enabled_at, created_at, updated_at
    from automation_rules
    cross join generate_series(1, 999) as n
    where workspace_id = ${w.workspaceId} and id = ${ruleId}`
  await w.db.sql`
    update automation_queues
    set rules_version = rules_version + 1
    where workspace_id = ${w.workspaceId}`
  assert.equal(await statementCountOf(receive), withoutRules)
  assert.ok((await statementCountOf(w.drain)) <= judgeOne, 'the rules are read together, once')
  await receive()
  assert.ok((await statementCountOf(w.drain)) < judgeOne, 'and then from memory')
  const [noted] = await w.db.sql<{ rules: number; acted: number }[]>`
    select count(distinct rule_id)::integer as rules, (count(*) filter (where state <> 'skipped'))::integer as acted
    from automation_runs
    where workspace_id = ${w.workspaceId}`
  assert.deepEqual(noted, { rules: 1000, acted: 0 }, 'all were judged')
  assert.equal(w.sentTo(phone).length, 0)
})
