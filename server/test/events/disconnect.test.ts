import assert from 'node:assert/strict'
import { test } from 'node:test'
import { relayMessages } from '../../src/base/pubsub.ts'
import { openNode, testDatabase } from '../support/database.ts'
import {
  eventsPath,
  type FeedWorld,
  feedWorld,
  follow,
  type Json,
  type Node,
  startNode,
} from '../support/events/feed-world.ts'
import { atEnd, oncePerFile } from '../support/file-lifecycle.ts'
import { signedInMember, type TestMember } from '../support/member.ts'
import { testApp } from '../support/world.ts'

interface Counted extends Node {
  /** Resolves after this many more reads of the feed. */
  reads(count: number): Promise<void>
}

/** Two nodes with a pool each, connected by notifications. */
const twoNodes = oncePerFile(async (): Promise<[Counted, Counted]> => [await newNode(), await newNode()])

async function newNode(): Promise<Counted> {
  const waiting: { left: number; resolve: () => void }[] = []
  const onStatement = ({ text }: { text: string }) => {
    if (!/"removedTo"/.test(text)) return
    for (const wait of waiting) if (--wait.left === 0) wait.resolve()
  }
  const db = openNode({ ...(await testDatabase()).options, onStatement })
  const stop = await relayMessages(db, (error) => assert.fail(String(error)))
  atEnd(async () => {
    stop()
    await db.close()
  })
  const reads: Counted['reads'] = (left) => new Promise((resolve) => waiting.push({ left, resolve }))
  return { ...(await startNode(await testApp(), { db })), reads }
}

/** Ways to end the stream of a member, done by an authorized person on this node. */
type End = (node: Node, owner: TestMember, member: TestMember) => Promise<unknown>

const send = async (node: Node, by: TestMember, method: 'DELETE' | 'PATCH' | 'POST', url: string, body?: object) => {
  const reply = await node.app.inject({
    method,
    url,
    headers: by.headers,
    ...(body === undefined ? {} : { payload: body }),
  })
  assert.ok(reply.statusCode < 300, reply.body)
  return reply.json()
}

const membersPath = (w: FeedWorld, { userId }: TestMember) =>
  `/api/team/v1/workspaces/${w.workspaceId}/members/${userId}`

const endings = (w: FeedWorld): End[] => [
  (node, owner, member) => send(node, owner, 'DELETE', membersPath(w, member)),
  (node, owner, member) => send(node, owner, 'PATCH', membersPath(w, member), { role: 'admin' }),
  (node, owner, member) => send(node, owner, 'DELETE', `${membersPath(w, member)}/sessions`),
  (node, _owner, member) => send(node, member, 'POST', '/api/team/v1/sign-out'),
]

test('a stream ends on all nodes at once when its access ends', async () => {
  const w = await feedWorld()
  const [here, there] = await twoNodes()
  const owner = await signedInMember(w, 'owner')
  const stays = await follow(w, here, { cookie: owner.cookie })
  for (const end of endings(w)) {
    const member = await signedInMember(w, 'member')
    const { cookie } = member
    const streams = [await follow(w, here, { cookie }), await follow(w, there, { cookie })]
    await end(here, owner, member)
    // Nothing was recorded and no node has polled: only the message can have ended them.
    for (const stream of streams) await stream.ended
    await w.record(['lead.created'])
    await here.tick()
    await stays.nextEvent('lead.created')
  }
  stays.close()
})

test('the stream of a team token ends when the token is revoked or its creator leaves', async () => {
  const w = await feedWorld()
  const [here, there] = await twoNodes()
  const [owner, maker] = [await signedInMember(w, 'owner'), await signedInMember(w, 'owner')]
  const make = async () => {
    const path = `/api/team/v1/workspaces/${w.workspaceId}/tokens`
    const { token, value } = await send(here, maker, 'POST', path, { name: 'Wallboard', role: 'member' })
    return { id: token.id, stream: await follow(w, there, { authorization: `Bearer ${value}` }) }
  }
  const [first, second] = [await make(), await make()]
  await send(here, owner, 'DELETE', `/api/team/v1/workspaces/${w.workspaceId}/tokens/${first.id}`)
  await first.stream.ended
  await send(here, owner, 'DELETE', membersPath(w, maker))
  await second.stream.ended
})

test('a wait ends with 401 on all nodes when its key is revoked', async () => {
  const w = await feedWorld()
  const nodes = await twoNodes()
  const owner = await signedInMember(w, 'owner')
  const { next_cursor: after } = await w.page({ after: 'latest' })
  const key = await w.addKey({ scopes: ['leads.read'] })
  const ask = (node: Node, value: string) =>
    fetch(`${node.url}${eventsPath}?after=${after}&wait=30`, { headers: { authorization: `Bearer ${value}` } })
  // The wait was accepted and found nothing; only then is the key revoked.
  const read = Promise.all([nodes[0].reads(1), nodes[1].reads(2)])
  const waits = nodes.map((node) => ask(node, key.value))
  const stays = ask(nodes[1], w.key)
  await read
  await send(nodes[0], owner, 'DELETE', `/api/team/v1/workspaces/${w.workspaceId}/keys/${key.id}`)
  for (const wait of waits) assert.equal((await wait).status, 401)
  await w.record(['lead.created'])
  await nodes[1].tick()
  assert.equal(((await (await stays).json()) as Json).events.length, 1)
})

test('a wait checks its key again before the response', async () => {
  const w = await feedWorld()
  const [node] = await twoNodes()
  const { next_cursor: after } = await w.page({ after: 'latest' })
  const { value: other } = await w.addKey({ scopes: ['leads.read'] })
  const ask = (query: string, key = w.key) =>
    fetch(`${node.url}${eventsPath}?after=${query}`, { headers: { authorization: `Bearer ${key}` } })
  const read = node.reads(1)
  const wait = ask(`${after}&wait=30`)
  await read
  // It has its response when a later request has one.
  await ask('latest', other)
  await w.db.sql`update api_keys set revoked_at = ${w.clock.now()} where id = ${w.keyId}`
  await w.record(['lead.created'])
  await node.tick()
  const answer = await wait
  assert.equal(answer.status, 401)
  assert.equal(((await answer.json()) as Json).statusMessage, 'API key revoked')
})
