import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
import type { Caller } from '../../src/access/keys/caller.ts'
import type { Guard } from '../../src/access/keys/guard.ts'
import { mcpRoutes } from '../../src/agents/mcp/routes.ts'
import { createBreaker } from '../../src/agents/pause/breaker.ts'
import { input, output } from '../../src/agents/schema.ts'
import { type AgentDeps, defineVerb, reads, type Verb } from '../../src/agents/verb.ts'
import { manualClock } from '../../src/base/clock.ts'
import { createLog } from '../../src/base/log.ts'
import { nullable } from '../../src/base/route.ts'
import { connected, type Era, eras, overHttp, textOf } from '../support/agents/mcp-client.ts'
import { testServer } from '../support/http.ts'
import { testNoon } from '../support/world.ts'

const publicUrl = 'http://parley.example'

/** A server with one verb alone, which does what the test says, and a key that may do everything. */
async function serverWith(run: Verb['run']) {
  const { app, lines } = testServer()
  const verb = defineVerb({
    name: 'try_it',
    title: 'Try it',
    description: 'Does what the test says.',
    scopes: ['inbox.read'],
    http: { method: 'POST', path: '/try' },
    input: input({ words: Type.Optional(nullable(Type.String({ maxLength: 100, example: 'some' }))) }),
    output: output('Tried', { words: nullable(Type.String({ maxLength: 100, description: 'What came of it.' })) }),
    hints: reads,
    example: { input: {}, output: { words: null, next: [] } },
    run: run as never,
  })
  const counted: string[] = []
  const guard: Pick<Guard, 'anyKey' | 'admit'> = {
    anyKey: () => async (request) => {
      request.caller = caller
    },
    admit: async (_caller, face) => {
      counted.push(face)
      return null
    },
  }
  const log = createLog('debug', { write: (line) => lines.push(line) })
  const breaker = createBreaker({ clock: manualClock(testNoon), tell: () => {} })
  mcpRoutes(app, { breaker } as AgentDeps, guard, [verb], { log, publicUrl })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const client = (era: Era) => connected(era, (one) => one.connect(overHttp(url, 'plk_any')))
  return { client, lines, counted }
}

const caller = {
  scopes: new Set(['inbox.read']),
  may: () => true,
  workspace: { inboxEnabled: true },
} as unknown as Caller

for (const era of eras) {
  test(`a fault of ours is told by an id alone, and logged (${era})`, async () => {
    const { client, lines } = await serverWith(() => Promise.reject(new Error('column "secret" is missing')))
    const answer = await (await client(era)).callTool({ name: 'try_it', arguments: { words: 'of a customer' } })
    const problem = textOf(answer)
    assert.deepEqual([answer.isError, problem.status, problem.code], [true, 500, 'INTERNAL'])
    assert.doesNotMatch(JSON.stringify(answer), /secret/)
    const line = lines.find((each) => each.includes('agent call failed')) ?? ''
    assert.ok(line.includes(problem.request_id) && line.includes('try_it'), line)
    assert.ok(!lines.join('').includes('of a customer'))
  })
}

test('a call is counted once, as what its verb is of', async () => {
  const { client, counted } = await serverWith(async () => ({ words: null, next: [] }))
  const one = await client('modern')
  counted.length = 0
  await one.callTool({ name: 'try_it' })
  assert.deepEqual(counted, ['inbox'])
  await one.listPrompts()
  await assert.rejects(one.callTool({ name: 'nothing' }))
  assert.deepEqual(counted, ['inbox', 'inbox', 'inbox'])
})

test('fields that may be null are shown as a branch for each type, and answers without their bounds', async () => {
  const { client } = await serverWith(async () => ({ words: null, next: [] }))
  const [tool] = (await (await client('modern')).listTools()).tools
  assert.deepEqual(tool?.inputSchema.properties, {
    words: { anyOf: [{ type: 'string', maxLength: 100 }, { type: 'null' }] },
  })
  const answered = tool?.outputSchema?.properties as { words: object }
  assert.deepEqual(answered.words, {
    description: 'What came of it.',
    anyOf: [{ type: 'string' }, { type: 'null' }],
  })
})
