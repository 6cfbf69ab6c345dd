import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deleteOldSends } from '../../../src/channels/unofficial/send/sends.ts'
import { customerPhone, type SessionWorld, sessionWorld } from '../../support/channels/session-world.ts'
import { statementsOf } from '../../support/database.ts'
import { oldRows, rotate } from '../../support/key-rotation/rotate-keys.ts'
import { findBadPlans } from '../../support/query-plans.ts'

async function everyRow({ db, connectionId }: SessionWorld): Promise<string[]> {
  const rows = await db.sql<{ text: string }[]>`
    select s::text as text from channel_sessions s where connection_id = ${connectionId}
    union all select k::text from session_keys k where connection_id = ${connectionId}
    union all select t::text from session_sends t where connection_id = ${connectionId}`
  return rows.map(({ text }) => text)
}

test('keys are stored, changed and deleted together, by type and id', async () => {
  const w = await sessionWorld()
  const { auth } = (await w.pair()).options
  await auth.writeKeys([
    { type: 'session', id: `${customerPhone}:0`, value: '{"a":1}' },
    { type: 'session', id: 'other', value: '{"b":2}' },
    { type: 'pre-key', id: 'other', value: '"same id, other type"' },
  ])
  await auth.writeKeys([
    { type: 'session', id: 'other', value: null },
    { type: 'session', id: `${customerPhone}:0`, value: '{"a":2}' },
  ])
  const found = await auth.readKeys('session', [`${customerPhone}:0`, 'other', 'unknown'])
  assert.deepEqual([...found], [[`${customerPhone}:0`, '{"a":2}']])
  assert.deepEqual([...(await auth.readKeys('pre-key', ['other']))], [['other', '"same id, other type"']])
  assert.equal((await auth.readKeys('session', [])).size, 0)
})

test('keys, pairing and sends are not readable in tables or logs', async () => {
  const w = await sessionWorld()
  const { socket, conversationId } = await w.startConversation()
  await socket.options.auth.writeKeys([{ type: 'session', id: customerPhone, value: '"a ratchet"' }])
  await w.post(conversationId, 'a secret text')
  const before = await everyRow(w)
  await w.team('POST', `/${w.connectionId}/pair`, { method: 'code', phone: '5511955507777' })
  await w.work()
  await w.network.last().qr('x')
  await w.work()
  const rows = [...before, ...(await everyRow(w))]
  assert.equal(before.length, 4, 'session, credentials, key, send')
  const stored = rows.join()
  const logged = w.logLines.join()
  for (const secret of ['a ratchet', 'a secret text', '5511955507777', 'K7QX2M9P', customerPhone, '"device"']) {
    for (const form of [secret, Buffer.from(secret).toString('hex')]) {
      assert.ok(!stored.includes(form), `${secret} is stored in the open`)
      assert.ok(!logged.includes(form), `${secret} is logged`)
    }
  }
})

test('a modified key counts as lost; a key moved to another row cannot be decrypted', async () => {
  const w = await sessionWorld()
  const { auth } = (await w.pair()).options
  await auth.writeKeys([
    { type: 'session', id: 'a', value: '"a"' },
    { type: 'session', id: 'b', value: '"b"' },
  ])
  await w.db.sql`
    update session_keys k
    set value = other.value
    from session_keys other
    where k.workspace_id = ${w.workspaceId}
      and k.connection_id = ${w.connectionId}
      and other.workspace_id = ${w.workspaceId}
      and other.connection_id = k.connection_id
      and k.type = 'session'
      and other.type = 'session'
      and other.digest <> k.digest`
  assert.deepEqual([...(await auth.readKeys('session', ['a', 'b']))], [])
})

test('rotating the data key leaves no old row, and the session continues as the same device', async () => {
  const w = await sessionWorld()
  const { socket, conversationId } = await w.startConversation()
  await w.post(conversationId)
  await socket.options.auth.writeKeys([{ type: 'session', id: 'a', value: '"a"' }])
  await rotate(w, 'data')
  assert.deepEqual(await oldRows(w.db, w.workspaceId, 'data', 2), [])
  assert.deepEqual([...(await socket.options.auth.readKeys('session', ['a']))], [['a', '"a"']])
  assert.equal(await socket.options.loadSentText(w.network.delivered[0]?.id ?? ''), 'Good morning')
  await socket.close(428)
  await w.work()
  assert.equal((await w.reconnect()).device, socket.device)
  assert.equal((await w.session()).state, 'open')
})

test('no statement of a session scans all sends or keys; cancelling a send is one statement', async () => {
  const w = await sessionWorld()
  const { db, workspaceId, connectionId, clock } = w
  const { socket, conversationId } = await w.startConversation()
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
    assert.equal(await socket.options.loadSentText('old1'), null, 'what does not open is not known')
    await socket.options.auth.writeKeys([
      { type: 'session', id: customerPhone, value: '""' },
      { type: 'session', id: 'gone', value: null },
    ])
    await socket.options.auth.readKeys('session', [customerPhone])
    await w.work()
    await deleteOldSends(db, clock.now())
  })
  const { paused: halted, resume: goOn } = w.pauseSends()
  const posting = w.post(conversationId)
  await halted
  const takenBack = await statementsOf(async () => void (await w.settleAsDead()))
  goOn()
  await posting
  assert.equal(takenBack.filter(({ text }) => /insert into session_sends as t/.test(text)).length, 1)
  const sends = [...statements, ...takenBack].filter(({ text }) => /session_sends|session_keys/.test(text))
  assert.deepEqual(await findBadPlans(db, sends, ['session_sends', 'session_keys']), [])
})
