import assert from 'node:assert/strict'
import { request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { isServerOf } from '../../src/base/embedded/postmaster.ts'
import { newFolder } from '../support/folder.ts'
import { databasePidOf, freePort, newWorkspace, startService } from '../support/program/service.ts'

/** Which requests were answered, refused with words, or never taken. A cut answer is an error of another kind. */
interface Outcome {
  created: string[]
  refused: number
  notTaken: number
  cut: string[]
}

test('told to stop amid writes, it ends what it has taken: what is stored was answered, and the rest was refused', async () => {
  const folder = await newFolder()
  const port = await freePort()
  const service = await startService({ folder, port })
  const { key } = await newWorkspace(service.url)

  const outcome: Outcome = { created: [], refused: 0, notTaken: 0, cut: [] }
  let stopped = false
  const writers = Array.from({ length: 8 }, async () => {
    while (!stopped) await createLead(port, key, outcome)
  })
  while (outcome.created.length < 100) await createLead(port, key, outcome)
  const databasePid = await databasePidOf(folder)
  service.kill('SIGTERM')
  assert.equal(await service.gone, 0)
  stopped = true
  await Promise.all(writers)
  assert.deepEqual(outcome.cut, [])
  const faults = service.lines().filter((line) => line.includes('"level":"error"'))
  assert.deepEqual(faults, [])
  assert.ok(!isServerOf(databasePid, join(folder, 'postgres')))

  const again = await startService({ folder, port })
  const stored = await fetch(`${again.url}/api/v1/leads?limit=1`, { headers: { authorization: `Bearer ${key}` } })
  const { pagination } = (await stored.json()) as { pagination: { total: number } }
  again.kill('SIGTERM')
  await again.gone
  assert.equal(pagination.total, outcome.created.length)
})

test('a second signal ends it at once, and its database with it', async () => {
  const folder = await newFolder()
  const service = await startService({ folder, port: await freePort() })
  const databasePid = await databasePidOf(folder)
  service.kill('SIGTERM')
  service.kill('SIGINT')
  const end = await service.gone
  assert.ok(end === 0 || end === 130 || end === 143, String(end))
  const { promise: gone, resolve } = Promise.withResolvers<void>()
  const look = setInterval(() => isServerOf(databasePid, join(folder, 'postgres')) || resolve(), 20)
  await gone
  clearInterval(look)
})

/** Over a connection of its own: a kept one may close between two requests, which says nothing about either. */
async function createLead(port: number, key: string, outcome: Outcome): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', connection: 'close' }
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>()
  const sent = request({ host: '127.0.0.1', port, method: 'POST', path: '/api/v1/leads', headers, agent: false })
  sent.once('error', reject)
  sent.once('response', (response) => {
    text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject)
  })
  sent.end('{"firstName":"Kim"}')
  try {
    const { status, body } = await promise
    const answer = JSON.parse(body)
    if (status === 201) outcome.created.push(answer.data.id)
    else if (status === 503) outcome.refused++
    else outcome.cut.push(body)
  } catch (error) {
    // Waiting for the listener when it closed: the system turns such connections away, and nobody has read them.
    const code = error instanceof Error && 'code' in error ? error.code : error
    if (code === 'ECONNREFUSED' || code === 'ECONNRESET') outcome.notTaken++
    else outcome.cut.push(String(error))
  }
}
