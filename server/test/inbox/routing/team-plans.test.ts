import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fillConversations } from '../../../../bench/fill.ts'
import type { SentStatement } from '../../../src/base/db.ts'
import { skipIfDistributed, statementsOf, vacuum } from '../../support/database.ts'
import { addAgent } from '../../support/inbox/inbox-world.ts'
import { accessPathsTo } from '../../support/query-plans.ts'
import { routedWorld } from './routing-world.ts'

const ofOthers = skipIfDistributed('a coordinator’s plan names no index')

test(
  'a list of a small team and taking the next conversation do not read those of the whole workspace',
  ofOthers,
  async () => {
    const {
      w,
      teamId,
      members,
      memberIds: [memberId = ''],
    } = await routedWorld(1)
    const { db, workspaceId, connectionId } = w
    const filling = { ...w, keyring: await w.keyStore.keyring(workspaceId), now: w.clock.now() }
    const ids = await fillConversations(filling, { connectionId, keyId: (await addAgent(w)).id, count: 4_000 })
    // All are open and of people, and nobody has them; twenty are of the team, and a person has a few after a handover.
    const handedOver = ids.slice(1_000, 1_005)
    await db.sql`
    update conversations
    set owner_key_id = null,
      status = 'open',
      unanswered_since = null,
      team_id = case when id = any (${ids.slice(-20)}::uuid[]) then ${teamId}::uuid end,
      handover = case when id = any (${handedOver}::uuid[]) then '\\x00'::bytea end,
      assigned_to = case when id = any (${handedOver}::uuid[]) then ${memberId}::uuid end
    where workspace_id = ${workspaceId}`
    await vacuum('conversations')
    const [member] = members
    const pathsOf = async (work: () => Promise<unknown>, isIt: (text: string) => boolean) => {
      const sent = await statementsOf(async () => void (await work()))
      const statement = sent.find(({ text }) => isIt(text)) as SentStatement
      return accessPathsTo(db, statement, 'conversations')
    }
    const list = await pathsOf(
      () => member?.call('GET', `/inbox/conversations?teamId=${teamId}`) ?? Promise.resolve(),
      (text) => /c\.team_id = \$/.test(text),
    )
    // By keys only those with recent messages, which are few.
    const touched = ['conversations_pkey', 'moving_conversations_pkey']
    assert.deepEqual(list.toSorted(), [...touched, 'conversations_recent_team'].toSorted())
    const next = await pathsOf(
      () => member?.call('POST', '/inbox/conversations/take-next') ?? Promise.resolve(),
      (text) => text.includes('c.handover is not null'),
    )
    assert.deepEqual(next.toSorted(), [...touched, 'conversations_handed_over', 'conversations_waiting'].toSorted())
  },
)
