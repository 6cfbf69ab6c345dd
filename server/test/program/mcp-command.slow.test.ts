import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { agentsWorld } from '../support/agents/agents-world.ts'
import { connected, type Era, eras, listening, textOf } from '../support/agents/mcp-client.ts'
import { atEnd } from '../support/file-lifecycle.ts'
import { mainProgram } from '../support/program/service.ts'

function stdioClient(era: Era, url: string, key: string) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [mainProgram, 'mcp', '--url', url],
    env: { ...process.env, PARLEY_KEY: key } as Record<string, string>,
  })
  return connected(era, (client) => client.connect(transport))
}

for (const era of eras) {
  test(`a stdio client gets the tools of its key through the command (${era})`, async () => {
    const w = await agentsWorld()
    const client = await stdioClient(era, await listening(w), w.agent.value)
    assert.equal((await client.listTools()).tools[0]?.name, 'who_am_i')
    const answers = await Promise.all([1, 2, 3].map(() => client.callTool({ name: 'who_am_i' })))
    for (const answer of answers) assert.equal(textOf(answer).owner, `agent:${w.agent.id}`)
    assert.equal((await client.callTool({ name: 'who_am_i', arguments: { secret: 1 } })).isError, true)
    await assert.rejects(client.readResource({ uri: 'parley://nothing/ä' }), { code: -32602 })
    assert.equal((await client.listPrompts()).prompts.length, 1)
  })
}

test('a cancelled call ends at the service too, without a response', async () => {
  const asked = Promise.withResolvers<void>()
  const hungUp = Promise.withResolvers<void>()
  const slow = createServer(async (request, response) => {
    const message = JSON.parse((await request.toArray()).join(''))
    const answer = (result: object) => response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }))
    if (message.method !== 'tools/call') {
      const serverInfo = { name: 'slow', version: '1' }
      return answer({ protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo })
    }
    response.once('close', hungUp.resolve)
    asked.resolve()
  })
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve))
  atEnd(async () => void slow.close())
  const address = slow.address()
  assert.ok(typeof address === 'object' && address !== null)
  const client = await stdioClient('legacy', `http://127.0.0.1:${address.port}`, 'plk_any')
  const giveUp = new AbortController()
  const call = client.callTool({ name: 'wait_for_work' }, { signal: giveUp.signal })
  await asked.promise
  giveUp.abort()
  await assert.rejects(call)
  await hungUp.promise
})

test('a rejected key is reported to the client with a message', async () => {
  const w = await agentsWorld()
  await assert.rejects(stdioClient('legacy', await listening(w), 'plk_nobody'), /API key missing or not valid/)
  await assert.rejects(stdioClient('legacy', 'http://127.0.0.1:1', 'plk_nobody'), /cannot be reached/)
})

test('an http address of another machine prints a warning outside the protocol stream', async () => {
  const child = spawn(process.execPath, [mainProgram, 'mcp', '--url', 'http://parley.invalid'], {
    env: { ...process.env, PARLEY_KEY: 'plk_any' },
  })
  child.stdin.end()
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
  assert.equal(out, '')
  assert.match(err, /^Warning: parley\.invalid is called by http/)
})
