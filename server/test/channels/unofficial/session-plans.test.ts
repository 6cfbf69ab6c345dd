import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forgetOldSends } from '../../../src/channels/unofficial/send/sends.ts'
import { customerPhone, sessionWorld } from '../../support/channels/session-world.ts'
import { statementsOf } from '../../support/database.ts'
import { badPlans } from '../../support/plans.ts'

test('no statement of a session reads what was sent, or its keys, from end to end; to take a send back is one statement', async () => {
  const w = await sessionWorld()
  const { db, workspaceId, connectionId, clock } = w
  const { socket, conversationId } = await w.talk()
  await db.sql`
    insert into session_sends (workspace_id, connection_id, id, kind, content, deadline, state, created_at)
    select ${workspaceId}, ${connectionId}, 'old' || n, 'message', '', now(), 'accepted',
      ${clock.now()}::timestamptz - n * interval '1 minute'
    from generate_series(1, 4000) as n`
  await db.sql`
    insert into session_keys (workspace_id, connection_id, type, digest, value)
    select ${workspaceId}, ${connectionId}, 'session', 'digest' || n, ''
    from generate_series(1, 4000) as n`
  await db.sql`analyze session_sends`
  await db.sql`analyze session_keys`
  const statements = await statementsOf(async () => {
    await w.post(conversationId)
    await socket.status(w.network.delivered[0]?.id ?? '', 3)
    assert.equal(await socket.options.sentText('old1'), null, 'what does not open is not known')
    await socket.options.auth.writeKeys([
      { type: 'session', id: customerPhone, value: '""' },
      { type: 'session', id: 'gone', value: null },
    ])
    await socket.options.auth.readKeys('session', [customerPhone])
    await w.work()
    await forgetOldSends(db, clock.now())
  })
  const { halted, goOn } = w.haltBeforeAsking()
  const posting = w.post(conversationId)
  await halted
  const takenBack = await statementsOf(async () => void (await w.settleAsDead()))
  goOn()
  await posting
  assert.equal(takenBack.filter(({ text }) => /insert into session_sends as t/.test(text)).length, 1)
  const sends = [...statements, ...takenBack].filter(({ text }) => /session_sends|session_keys/.test(text))
  assert.deepEqual(await badPlans(db, sends, ['session_sends', 'session_keys']), [])
})
