import assert from 'node:assert/strict'
import { createReceive } from '../../../src/inbox/receive/receive.ts'
import { settleRoutingWaits } from '../../../src/inbox/routing/route-waiting.ts'
import type { TeamPatch } from '../../../src/workspaces/teams/teams.ts'
import { customerMessage, inboxWorld, marina } from '../../support/inbox/inbox-world.ts'
import { signedInMember, type TestMember } from '../../support/member.ts'

/** Customer number `n`, who has not written before. */
export const customer = (n: number) => ({ ...marina, phone: `55119777${10_000 + n}`, name: `Ana ${n}` })

/** Creates a workspace whose new conversations go to a team with this many members. */
export async function routedWorld(people: number, settings: TeamPatch = {}) {
  const w = await inboxWorld()
  const admin = await signedInMember(w, 'admin')
  const members: TestMember[] = []
  for (let n = 0; n < people; n++) members.push(await signedInMember(w))
  // Of several who have had none, the first by id is next.
  members.sort((a, b) => (a.userId < b.userId ? -1 : 1))
  const memberIds = members.map(({ userId }) => userId)
  const created = await admin.call('POST', '/teams', { name: 'Sales', memberIds, ...settings })
  assert.equal(created.status, 201, JSON.stringify(created.body))
  const teamId: string = created.body.team.id
  const route = async (body: object) => {
    const { status, body: answer } = await admin.call('PUT', '/routing', body)
    assert.equal(status, 200, JSON.stringify(answer))
  }
  await route({ rules: [{ connectionId: null, agent: 'none', keyId: null, teamId }] })
  const conversationOf = async (id: string) => (await admin.call('GET', `/inbox/conversations/${id}`)).body.conversation
  return {
    w,
    admin,
    members,
    memberIds,
    teamId,
    route,
    conversationOf,
    /** A new customer writes now; returns the conversation as the team sees it. */
    newCustomer: async (n: number) => conversationOf((await w.customerWrites('Hi', { customer: customer(n) })).id),
    /** Receives a message of each of these customers at the same moment, on each of the nodes in turn. */
    writeAtOnce: async (count: number, nodes = [w.db]) => {
      const receiver = { workspaceId: w.workspaceId, id: w.connectionId, channel: 'waba' } as const
      const deliver = (n: number) => {
        const db = nodes[n % nodes.length] ?? w.db
        const event = customerMessage({ at: w.clock.now(), customer: customer(n) })
        return createReceive({ ...w.receiveDeps, db })(receiver, [event])
      }
      await Promise.all(Array.from({ length: count }, (_, n) => deliver(n)))
    },
    /** Returns how many conversations each of the members has, in their order. */
    shares: async () => {
      const rows = await w.db.sql<{ id: string | null }[]>`
        select assigned_to as id
        from conversations
        where workspace_id = ${w.workspaceId}`
      return memberIds.map((userId) => rows.filter(({ id }) => id === userId).length)
    },
    /** Lets the minutes pass and the job run. */
    afterMinutes: async (minutes: number) => {
      w.clock.advance(minutes * 60_000)
      return settleRoutingWaits(w)
    },
    /** Returns kind, new value and reason of the activities. */
    activitiesOf: async (id: string) => {
      const { items } = (await admin.call('GET', `/inbox/conversations/${id}/timeline`)).body
      type Item = { activity?: { kind: string; to: string | null; reason: string | null } }
      return (items as Item[]).flatMap(({ activity }) =>
        activity === undefined ? [] : [[activity.kind, activity.to, activity.reason]],
      )
    },
  }
}
