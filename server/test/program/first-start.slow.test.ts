import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { lockNumbers } from '../../src/base/lock-numbers.ts'
import { testDatabase } from '../support/database.ts'
import { newFolder } from '../support/folder.ts'
import { runCommand } from '../support/program/run-command.ts'
import { freePort, serviceEnvironment, startService } from '../support/program/service.ts'
import { nodeSettings } from '../support/program/two-nodes.ts'
import { until } from '../support/until.ts'

const teamToken = 'a-team-token-of-24-characters'

test('the first start prints a link, a key and a line that work; the second prints no secret', async () => {
  const folder = await newFolder()
  const port = await freePort()
  const env = { PARLEY_DEMO: '1', PARLEY_SIMULATOR_PORT: String(await freePort()), PARLEY_TEAM_TOKEN: teamToken }
  const first = await startService({ folder, port, env })
  await first.hasTold('Stop with Ctrl+C.')
  const words = first.told()
  const link = /http:\S+\/sign-in\/\S+/.exec(words)?.[0] ?? ''
  const key = /plk_\w+/.exec(words)?.[0] ?? ''
  const line = /^ +(curl .*)$/m.exec(words)?.[1] ?? ''

  const { stdout } = await promisify(execFile)('bash', ['-c', line])
  const { data } = JSON.parse(stdout)
  assert.equal(data.phone, '5511987654321')

  const headers = { authorization: `Bearer ${key}` }
  const list = (await (await fetch(`${first.url}/api/v1/leads?limit=100`, { headers })).json()) as LeadList
  assert.ok(list.pagination.total > 30)
  assert.equal(new Set(list.data.map((lead) => lead.createdAt)).size, list.data.length)
  assert.ok(new Set(list.data.map((lead) => lead.status)).size > 5)

  assert.equal((await fetch(link)).status, 200)
  assert.equal(await signInStatus(first.url, link), 200)
  assert.equal((await fetch(`${first.url}/f/demo`)).status, 200)
  assert.match(words, /may call this machine, .*PARLEY_DEMO=0/)
  const phones = /phones, simulated: (\S+)/.exec(words)?.[1] ?? ''
  for (const page of [phones, `${phones}/owner`]) assert.equal((await fetch(page)).status, 200)
  const connections = await demoConnections(first.url)
  assert.deepEqual(connections, [
    ['waba', 'Parley Demo', 'active', null],
    ['unofficial', 'QR demo', 'unavailable', 'never_paired'],
  ])
  const number = await simulatedNumber(phones)
  first.kill('SIGTERM')
  await first.gone

  const second = await startService({ folder, port, env })
  await second.hasTold('Stop with Ctrl+C.')
  assert.doesNotMatch(second.told(), /plk_|sign-in\//)
  assert.match(second.told(), /parley member link/)
  assert.deepEqual(await simulatedNumber(phones), { ...number, trustsUnknownWindows: true })
  assert.deepEqual(await demoConnections(second.url), connections)
  const made = await runCommand(['member', 'link', '--json'], serviceEnvironment(folder, port))
  const another = JSON.parse(made.stdout).url as string
  assert.equal(await signInStatus(second.url, another), 200)
  assert.equal(await signInStatus(second.url, another), 401)
  second.kill('SIGTERM')
  await second.gone
})

test('a first start that was killed is gone on with at the next', async () => {
  const folder = await newFolder()
  const port = await freePort()
  const env = { PARLEY_DEMO: '1', PARLEY_SIMULATOR_PORT: String(await freePort()) }
  const first = await startService({ folder, port, env })
  first.kill('SIGKILL')
  await first.gone
  assert.doesNotMatch(first.told(), /plk_/)

  const second = await startService({ folder, port, env })
  await second.hasTold('Stop with Ctrl+C.')
  const key = /plk_\w+/.exec(second.told())?.[0] ?? ''
  const headers = { authorization: `Bearer ${key}` }
  const list = (await (await fetch(`${second.url}/api/v1/leads`, { headers })).json()) as LeadList
  assert.equal(list.pagination.total, 40)
  assert.equal((await fetch(`${second.url}/f/demo`)).status, 200)
  assert.equal((await fetch(`${second.url}/api/v1/inbox/conversations`, { headers })).status, 200)
  second.kill('SIGTERM')
  await second.gone
})

test('one that waits for the first start of another process stops when it is told to', async () => {
  const database = await testDatabase()
  const service = await database.db.tx(async (other) => {
    await other`select set_config('idle_in_transaction_session_timeout', '1min', true)`
    await other`select pg_advisory_xact_lock(${lockNumbers.firstStart}::bigint)`
    const waiting = await startService({
      folder: await newFolder(),
      port: await freePort(),
      env: nodeSettings(database),
    })
    const waits = () => other`
      select
      from pg_locks
      join pg_database d on d.oid = database
      where d.datname = current_database()
        and locktype = 'advisory'
        and not granted`
    await until(async () => (await waits()).length > 0, 'one that waits')
    waiting.kill('SIGTERM')
    assert.equal(await waiting.gone, 0)
    return waiting
  })
  assert.doesNotMatch(service.lines().join('\n'), /stopping failed/)
})

async function simulatedNumber(phones: string): Promise<object> {
  const { numbers } = (await (await fetch(new URL('/simulator/numbers', phones))).json()) as { numbers: [object] }
  return numbers[0]
}

async function demoConnections(url: string): Promise<unknown[]> {
  const ask = async (path: string) => {
    const headers = { authorization: `Bearer ${teamToken}` }
    return (await fetch(`${url}/api/team/v1/workspaces${path}`, { headers })).json() as Promise<Answers>
  }
  const { workspaces = [] } = await ask('')
  const { connections = [] } = await ask(`/${workspaces[0]?.id}/connections`)
  return connections.map(({ channel, name, state, stateReason }) => [channel, name, state, stateReason])
}

interface Answers {
  workspaces?: { id: string }[]
  connections?: { channel: string; name: string; state: string; stateReason: string | null }[]
}

async function signInStatus(url: string, link: string): Promise<number> {
  const { status } = await fetch(`${url}/api/team/v1/sign-in/link`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token: link.split('/').at(-1) }),
  })
  return status
}

interface LeadList {
  data: { createdAt: string; status: string }[]
  pagination: { total: number }
}
