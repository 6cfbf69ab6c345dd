import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { newFolder } from '../support/folder.ts'
import { startDemo } from '../support/program/installation.ts'
import { runCommandInProcess } from '../support/program/run-command.ts'
import { ask, freePort, operatorToken, serviceEnvironment, startService } from '../support/program/service.ts'
import { until } from '../support/until.ts'

test('a killed first start is continued by the next, which prints a working link, key and command; the third prints no secret', async () => {
  const env = { PARLEY_DEMO: '1', PARLEY_SIMULATOR_PORT: String(await freePort()) }
  const at = { folder: await newFolder(), port: await freePort(), env }
  const killed = await startService(at)
  killed.kill('SIGKILL')
  await killed.exited
  assert.doesNotMatch(killed.output(), /plk_/)

  const first = await startDemo(at)
  const words = first.output()
  const link = /http:\S+\/sign-in\/\S+/.exec(words)?.[0] ?? ''
  const key = /plk_\w+/.exec(words)?.[0] ?? ''
  const line = /^ +(curl .*)$/m.exec(words)?.[1] ?? ''
  const { stdout } = await promisify(execFile)('bash', ['-c', line])
  assert.equal(JSON.parse(stdout).data.phone, '5511987654321')

  const { data, pagination } = (await ask(first.url, key, 'GET /api/v1/leads?limit=100')).body
  // The line has made one more.
  assert.equal(pagination.total, 41)
  const distinct = (name: string) => new Set(data.map((lead: Record<string, string>) => lead[name])).size
  assert.equal(distinct('createdAt'), data.length)
  assert.ok(distinct('status') > 5)

  assert.match(words, /can call this machine, .*PARLEY_DEMO=0/)
  const phones = /Simulated phones: (\S+)/.exec(words)?.[1] ?? ''
  for (const page of [link, `${first.url}/f/demo`, phones, `${phones}/owner`])
    assert.equal((await fetch(page)).status, 200, page)
  assert.equal(await signInStatus(first.url, link), 200)
  assert.equal((await ask(first.url, key, 'GET /api/v1/inbox/conversations')).status, 200)
  const { limits } = (await ask(first.url, key, 'GET /api/v2/me')).body
  assert.equal(limits.answer_within_minutes, 24 * 60, 'the first reader finds the customers where they are')
  // A customer who has just written may write more.
  const waiting = async () => (await ask(first.url, key, 'GET /api/v2/work?wait=0')).body.work.length === 6
  await until(waiting, 'six waiting customers')
  const connections = await demoConnections(first.url)
  assert.deepEqual(connections, [
    ['waba', 'Parley Demo', 'active', null],
    ['unofficial', 'QR demo', 'unavailable', 'never_paired'],
  ])
  const number = await simulatedNumber(phones)
  await first.stop()

  const second = await startDemo(at)
  assert.doesNotMatch(second.output(), /plk_|sign-in\//)
  assert.match(second.output(), /parley member link/)
  assert.deepEqual(await simulatedNumber(phones), { ...number, trustsUnknownWindows: true })
  assert.deepEqual(await demoConnections(second.url), connections)
  const made = await runCommandInProcess(['member', 'link', '--json'], serviceEnvironment(at.folder, at.port))
  const another = JSON.parse(made.stdout).url as string
  assert.deepEqual([await signInStatus(second.url, another), await signInStatus(second.url, another)], [200, 401])
  await second.stop()
})

async function simulatedNumber(phones: string): Promise<object> {
  return (await ask(new URL(phones).origin, '', 'GET /simulator/numbers')).body.numbers[0]
}

async function demoConnections(url: string): Promise<unknown[]> {
  const team = async (path: string) => (await ask(url, operatorToken, `GET /api/team/v1/workspaces${path}`)).body
  const { workspaces } = await team('')
  const { connections } = await team(`/${workspaces[0].id}/connections`)
  return connections.map(({ channel, name, state, stateReason }: Record<string, string | null>) => [
    channel,
    name,
    state,
    stateReason,
  ])
}

async function signInStatus(url: string, link: string): Promise<number> {
  const token = link.split('/').at(-1)
  return (await ask(url, '', 'POST /api/team/v1/sign-in/link', { token })).status
}
