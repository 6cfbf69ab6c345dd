import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { agentsWorld } from '../support/agents/agents-world.ts'
import { listening } from '../support/agents/mcp-client.ts'
import { atEnd } from '../support/file-lifecycle.ts'

const run = promisify(execFile)
const suite = fileURLToPath(
  new URL('../../../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url),
)

/** Scenarios that apply to any server. */
const applying = [
  'server-initialize',
  'ping',
  'tools-list',
  'resources-list',
  'prompts-list',
  'dns-rebinding-protection',
]
/** Scenarios that need tools, prompts and resources of the suite, or capabilities that the server does not declare. */
const others =
  /^(?:tools-call-|prompts-get-|resources-(?:read-|templates-|subscribe|unsubscribe)|elicitation-|server-sse-|json-schema-|logging-|completion-)/

/** A proxy for the suite, which knows no key: adds the key to each request. */
async function withKey(target: string, key: string): Promise<string> {
  const proxy = createServer((asked, answer) => {
    const headers = { ...asked.headers, authorization: `Bearer ${key}` }
    const passed = request(target + asked.url, { method: asked.method, headers, setHost: false }, (got) => {
      answer.writeHead(got.statusCode ?? 502, got.headers)
      got.pipe(answer)
    })
    passed.on('error', () => answer.destroy())
    asked.pipe(passed)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  atEnd(async () => void proxy.close())
  return `http://localhost:${(proxy.address() as AddressInfo).port}/mcp`
}

test('the server passes the MCP conformance suite', { timeout: 120_000 }, async () => {
  const w = await agentsWorld()
  const url = await withKey(await listening(w), w.agent.value)
  for (const scenario of applying) {
    const { stdout } = await run(process.execPath, [suite, 'server', '--url', url, '--scenario', scenario])
    assert.match(stdout, /Passed: ([1-9])\/\1, 0 failed, 0 warnings/, scenario)
  }
})

test('every scenario of the suite is run or excluded by kind', async () => {
  const { stdout } = await run(process.execPath, [suite, 'list', '--server'])
  const scenarios = [...stdout.matchAll(/^ {2}- (\S+)/gm)].map(([, name = '']) => name)
  assert.deepEqual(scenarios.filter((name) => !others.test(name)).sort(), applying.toSorted())
})
