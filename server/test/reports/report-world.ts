import assert from 'node:assert/strict'
import { createFindLeads } from '../../src/app/inbox.ts'
import { newId } from '../../src/base/id.ts'
import { countAll } from '../../src/reports/count-changes.ts'
import { customerMessage, type InboxWorld, inboxWorld, marina } from '../support/inbox/inbox-world.ts'
import { signedInMember, type TestMember } from '../support/member.ts'
import { testNoon } from '../support/world.ts'

export const minute = 60_000
export const hour = 60 * minute

let customers = 0

/** A workspace with an admin, a member and an agent, whose changes are counted when the test says so. */
export async function reportWorld() {
  const w = await inboxWorld({
    key: { scopes: ['inbox.read', 'inbox.write', 'leads.read', 'leads.write', 'leads.delete'] },
  })
  w.clock.set(testNoon)
  const [admin, member] = [await signedInMember(w, 'admin'), await signedInMember(w)]
  const deps = { ...w, findLeads: createFindLeads(w) }
  const say = async (by: TestMember, id: string, text = 'Hello'): Promise<void> => {
    w.clock.advance(1000)
    const headers = { 'idempotency-key': newId(w.clock.now()) }
    const { status, body } = await by.call(
      'POST',
      `/inbox/conversations/${id}/messages`,
      { kind: 'text', text },
      headers,
    )
    assert.equal(status, 202, JSON.stringify(body))
  }
  return {
    ...w,
    ...{ admin, member, deps, say },
    /** Counts everything that has happened. */
    count: async () => {
      await w.sequencer.sequenceAll()
      await countAll(deps, w.workspaceId)
    },
    /** A new customer writes; returns the id of the conversation and the phone. */
    newCustomer: async (): Promise<{ id: string; phone: string }> => {
      w.clock.advance(1000)
      const phone = `5581${980_000_000 + ++customers}`
      const { id } = await w.customerWrites('Hello!', { customer: { ...marina, phone } })
      return { id, phone }
    },
    writesAgain: (phone: string, at = w.clock.now()) =>
      w.deliver(customerMessage({ at, customer: { ...marina, phone } })),
    setStatus: async (by: TestMember, id: string, status: string) => {
      w.clock.advance(1000)
      const answer = await by.call('PATCH', `/inbox/conversations/${id}`, { status })
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
    },
    report: async (by: TestMember = admin, query = '') => {
      const { status, body } = await by.call('GET', `/reports${query}`)
      assert.equal(status, 200, JSON.stringify(body))
      return body
    },
    groups: async (by: string, reader: TestMember = admin) => {
      const { status, body } = await reader.call('GET', `/reports/groups?by=${by}`)
      assert.equal(status, 200, JSON.stringify(body))
      return body.groups
    },
    counted: async (number: string, query = '') => {
      const { status, body } = await admin.call('GET', `/reports/counted?number=${number}${query}`)
      assert.equal(status, 200, JSON.stringify(body))
      return body.items
    },
  }
}

export type ReportWorld = Awaited<ReturnType<typeof reportWorld>>

/** Everything that was counted, in an order of its own. */
export async function countedRows({ db, workspaceId }: Pick<InboxWorld, 'db' | 'workspaceId'>) {
  const [facts, sums] = await Promise.all([
    db.sql`
      select kind, id, subject_id, at, day::text as day, outcome, connection_id, team_id, user_id, key_id, source, campaign_id,
        label_ids,
        value
      from report_facts
      where workspace_id = ${workspaceId}
      order by kind, id`,
    db.sql`
      select dimension, day::text as day, dimension_id, kind, outcome, bucket, count, total::text as total
      from report_rollups
      where workspace_id = ${workspaceId}
        and count <> 0
      order by dimension, day, dimension_id, kind, outcome, bucket`,
  ])
  return { facts: [...facts], sums: [...sums] }
}
