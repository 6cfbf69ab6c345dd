import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { scopesOf } from '../../src/agents/http/openapi.ts'
import { agentTools } from '../../src/agents/tools/all-tools.ts'
import { knowledgeOperations } from '../../src/agents/tools/write-knowledge.ts'
import { compileCheck } from '../../src/base/validation.ts'
import { agentsWorld, checkOutput } from '../support/agents/agents-world.ts'
import { findUnlimited, schemasWithin } from '../support/limits.ts'
import { signedInMember } from '../support/member.ts'
import { assertShows, fillIn, type Values } from '../support/program/tutorial.ts'

const guide = readFileSync(new URL('../../../docs/agents.md', import.meta.url), 'utf8')

/** A call with its response, or what happens between two calls. */
const steps = /^```http\n([\s\S]*?)^```\n+```json\n([\s\S]*?)^```$|^> (\w+) (writes|hands it back): (.*)$/gm

test('all calls of the guide return what the guide shows', async () => {
  const w = await agentsWorld()
  const member = await signedInMember(w)
  const values: Values = new Map()
  let calls = 0
  for (const [, call, shows = '', , does, words = ''] of guide.matchAll(steps)) {
    w.clock.advance(1000)
    const [summary = '', nextStep = ''] = words.split(' / ')
    if (does === 'writes') await w.customerWrites(words)
    else if (does !== undefined) await w.handBack(member, String(values.get('conversation id')), { summary, nextStep })
    if (call === undefined) continue
    calls++
    const [first = '', ...rest] = fillIn(call, values).trim().split('\n')
    const [, method, path = '', status = '200'] = /^(GET|POST|PATCH) (\S+)(?: (\d{3}))?$/.exec(first) ?? []
    const body = rest.length === 0 ? undefined : JSON.parse(rest.join('\n'))
    const reply = await w.call(method as 'GET', path, { key: w.agent.value, body })
    const shown = typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body)
    assert.equal(reply.status, Number(status), `${first}: ${shown}`)
    assertShows(shown, shows, values)
  }
  assert.ok(calls > 12, `${calls} calls`)
})

test('the call in the README lists pending work', async () => {
  const w = await agentsWorld()
  const { id } = await w.customerWrites('Hello')
  const page = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')
  const line = /^curl "http:\/\/127\.0\.0\.1:7007(\/api\/v2[^"]*)" -H "Authorization: Bearer <key>"$/m
  const [, path = ''] = line.exec(page) ?? []
  const { body } = await w.call('GET', path, { key: w.agent.value })
  assert.equal(body.work[0].conversation.id, id)
})

test('the guide has at most 2,500 words and names every tool', () => {
  assert.ok(guide.replaceAll(/<a id="\w+"><\/a>/g, '').split(/\s+/).length <= 2560)
  assert.deepEqual(
    agentTools.map(({ name }) => name).filter((name) => !guide.includes(name)),
    [],
  )
})

test('llms.txt and the guide are served as text with bounded size', async () => {
  const w = await agentsWorld()
  const llms = await w.app.inject({ url: '/llms.txt' })
  assert.match(String(llms.headers['content-type']), /^text\/plain/)
  for (const { name, http } of agentTools) {
    assert.ok(llms.body.includes(`/api/v2${http.path.replaceAll(/:(\w+)/g, '<$1>')} (${name})`), name)
  }
  assert.ok(llms.body.length < 30_000, `${llms.body.length} characters`)
  const page = await w.app.inject({ url: '/docs/agents.md' })
  assert.match(String(page.headers['content-type']), /^text\/markdown/)
  assert.equal(page.body, guide)
})

test('the OpenAPI document has all tools, and at most 60 KB with gzip', async () => {
  const w = await agentsWorld()
  const { body } = await w.app.inject({ url: '/api/v2/openapi.json' })
  const document = JSON.parse(body)
  assert.ok(gzipSync(body).length <= 60 * 1024)
  const operations = Object.values<Record<string, { operationId: string }>>(document.paths).flatMap(Object.values)
  const all = [...agentTools, ...knowledgeOperations]
  assert.deepEqual(operations.map(({ operationId }) => operationId).sort(), all.map(({ name }) => name).sort())
  const names = [...body.matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name = '']) => name)
  assert.deepEqual(
    names.filter((name) => document.components.schemas[name] === undefined),
    [],
  )
})

test('examples of all tools match their schemas', () => {
  for (const verb of [...agentTools, ...knowledgeOperations]) {
    assert.deepEqual(compileCheck(verb.input)(verb.example.input, 'input'), [], verb.name)
    assert.deepEqual(checkOutput(verb, verb.example.output), [], verb.name)
    assert.match(verb.name, /^[a-z]+(_[a-z]+)*$/)
    assert.ok(verb.description.length <= 700 && scopesOf(verb) !== '', verb.name)
  }
})

test('all texts, numbers and lists of tools have limits, and inputs are closed', () => {
  for (const { name, input, output } of [...agentTools, ...knowledgeOperations]) {
    assert.deepEqual([...findUnlimited(input, `${name} input`), ...findUnlimited(output, `${name} output`)], [])
    for (const { type, patternProperties, additionalProperties } of schemasWithin(input)) {
      const isObject = [type].flat().includes('object') && !patternProperties
      assert.ok(!isObject || additionalProperties === false, name)
    }
  }
})
