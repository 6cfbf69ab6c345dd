import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { test } from 'node:test'
import { endAllSessions } from '../../src/auth/sign-in/sessions.ts'
import { writeFeedCursor } from '../../src/events/read-page.ts'
import { publishConnection, publishImport } from '../../src/team/live-updates.ts'
import { type FeedWorld, feedWorld, follow, livePath, type Node, startNode } from '../support/events/feed-world.ts'
import { openStream } from '../support/events/live-stream.ts'
import { oncePerFile } from '../support/file-lifecycle.ts'
import { signedInMember } from '../support/member.ts'
import { testApp, testTeamToken } from '../support/world.ts'

const asToken = { authorization: `Bearer ${testTeamToken}` }

const oneNode = oncePerFile(async () => startNode(await testApp()))

/** A client that opens the stream and reads nothing until it resumes. */
function openDeaf(w: FeedWorld, { url }: Node, credential: string) {
  const { hostname, port } = new URL(url)
  const client = connect({ host: hostname, port: Number(port) })
  client.pause()
  client.write([`GET ${livePath(w)} HTTP/1.1`, 'host: parley', credential, '', ''].join('\r\n'))
  client.on('error', () => {})
  return { client, closed: new Promise<void>((resolve) => client.once('close', () => resolve())) }
}

test('a browser gets new events as in the feed, with headers against buffering', async () => {
  const w = await feedWorld()
  await w.record(['lead.created'])
  const stream = await follow(w, await oneNode(), asToken)
  assert.equal(stream.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  assert.equal(stream.headers.get('cache-control'), 'no-store')
  assert.equal(stream.headers.get('x-accel-buffering'), 'no')
  assert.ok(stream.headers.get('x-request-id'))
  await w.record(['lead.updated', 'inbox.message.received'])
  const [updated, received] = [await stream.next(), await stream.next()]
  assert.equal(updated.event, 'lead.updated')
  assert.equal(received.event, 'inbox.message.received')
  const { events } = await w.page()
  assert.deepEqual([updated.data, received.data], events.slice(1))
  stream.close()
})

test('a reconnected browser resumes after its last id without loss', async () => {
  const w = await feedWorld()
  const live = `${(await oneNode()).url}${livePath(w)}`
  const first = await openStream(live, asToken)
  const { id: beginning } = await first.next()
  await w.record(['lead.created'])
  const { id } = await first.next()
  first.close()
  await w.record(['lead.updated', 'lead.deleted'])
  const second = await openStream(live, { ...asToken, 'last-event-id': id })
  assert.equal((await second.next()).id, id)
  assert.deepEqual([(await second.next()).event, (await second.next()).event], ['lead.updated', 'lead.deleted'])
  const third = await openStream(`${live}?after=${beginning}`, asToken)
  await third.next()
  assert.deepEqual(
    [(await third.next()).event, (await third.next()).event, (await third.next()).event],
    ['lead.created', 'lead.updated', 'lead.deleted'],
  )
  second.close()
  third.close()
})

test('an unknown, old or distant cursor causes a reset, and the stream continues', async () => {
  const w = await feedWorld()
  await w.db.sql`
    insert into event_feeds (workspace_id, last_position, removed_to)
    values (${w.workspaceId}, 9000, 100)`
  const live = `${(await oneNode()).url}${livePath(w)}`
  const places = ['garbage', ...[99, 3999, 9001].map((place) => writeFeedCursor(w.workspaceId, place))]
  for (const after of places) {
    const stream = await openStream(`${live}?after=${after}`, asToken)
    const now = writeFeedCursor(w.workspaceId, 9000)
    assert.equal((await stream.next()).id, now)
    const reset = await stream.next()
    assert.deepEqual([reset.event, reset.id], ['reset', now])
    stream.close()
  }
  const near = await openStream(`${live}?after=${writeFeedCursor(w.workspaceId, 4000)}`, asToken)
  await near.next()
  await w.record(['lead.created'])
  assert.equal((await near.next()).event, 'lead.created')
  near.close()
})

test('the periodic check ends streams of ended sessions and memberships', async () => {
  const w = await feedWorld()
  const node = await oneNode()
  const [signedOut, removed, stays] = [await signedInMember(w), await signedInMember(w), await signedInMember(w)]
  const open = ({ cookie }: { cookie: string }) => follow(w, node, { cookie })
  const [first, second, third] = [await open(signedOut), await open(removed), await open(stays)]
  await w.db.tx((tx) => endAllSessions(tx, signedOut.userId))
  await w.db.sql`
    delete from members
    where workspace_id = ${w.workspaceId}
      and user_id = ${removed.userId}`
  await node.tick()
  await Promise.all([first.ended, second.ended])
  await w.record(['lead.created'])
  await third.nextEvent('lead.created')
  third.close()
})

test('401 without credentials, 404 in other workspaces, and 429 for the 21st stream of a member', async () => {
  const w = await feedWorld()
  const other = await feedWorld()
  const node = await oneNode()
  const { cookie } = await signedInMember(w)
  assert.equal((await fetch(`${node.url}${livePath(w)}`)).status, 401)
  assert.equal((await fetch(`${node.url}${livePath(other)}`, { headers: { cookie } })).status, 404)
  const streams = await Promise.all(
    Array.from({ length: 20 }, () => openStream(`${node.url}${livePath(w)}`, { cookie })),
  )
  const ask = async () => {
    const controller = new AbortController()
    const { status } = await fetch(`${node.url}${livePath(w)}`, { headers: { cookie }, signal: controller.signal })
    controller.abort()
    return status
  }
  assert.equal(await ask(), 429)
  streams.pop()?.close()
  let status = 429
  while (status === 429) status = await ask()
  assert.equal(status, 200)
  for (const stream of streams) stream.close()
})

test('a client that does not read is disconnected, and the others get everything', async () => {
  const w = await feedWorld()
  const node = await oneNode()
  const { cookie, userId } = await signedInMember(w)
  const idle = openDeaf(w, node, `authorization: ${asToken.authorization}`)
  const signedOut = openDeaf(w, node, `cookie: ${cookie}`)
  const stream = await follow(w, node, asToken)
  // More than the kernel buffers on both sides, plus the buffer of the server.
  for (let round = 0; round < 20; round++) {
    await w.record(Array<'lead.created'>(100).fill('lead.created'), { more: { notes: 'x'.repeat(10_000) } })
  }
  for (let count = 0; count < 2000; count++) await stream.nextEvent('lead.created')
  await w.db.tx((tx) => endAllSessions(tx, userId))
  // Two heartbeats without reads would end it too; this is one.
  await node.tick()
  // Its end is visible now.
  signedOut.client.resume()
  await signedOut.closed
  await node.tick()
  idle.client.resume()
  await idle.closed
  stream.close()
})

test('a server shutdown ends its streams at once', async () => {
  const w = await feedWorld()
  const node = await startNode(w)
  const stream = await follow(w, node, asToken)
  await node.app.close()
  await stream.ended
})

test('live-only updates have no cursor, stay in their workspace and are not in the feed', async () => {
  const w = await feedWorld()
  const other = await feedWorld()
  const connectionId = randomUUID()
  const node = await oneNode()
  const [stream, theirs] = [await follow(w, node, asToken), await follow(other, node, asToken)]
  await w.db.tx(async (tx) => publishConnection(tx, w.workspaceId, connectionId))
  await other.db.tx(async (tx) => publishImport(tx, other.workspaceId, 'another'))
  assert.deepEqual(await stream.next(), { id: '', event: 'team.connection.changed', data: { connectionId } })
  assert.deepEqual(await theirs.next(), { id: '', event: 'team.lead_import.changed', data: { importId: 'another' } })
  assert.deepEqual((await w.page()).events, [])
  stream.close()
  theirs.close()
})
