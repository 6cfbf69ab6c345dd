import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Loose } from '../support/channels/rigs.ts'
import { simulatorWorld } from '../support/channels/simulator.ts'
import { runCommandInProcess } from '../support/program/run-command.ts'
import { ask, operatorToken } from '../support/program/service.ts'
import { inProcessServer } from './in-process-server.ts'

const s = await simulatorWorld()

test('connection check exits with 1 while a step fails and with 0 once none does, and prints no secret', async () => {
  const { env, url } = await inProcessServer()
  const parley = (...args: string[]) => runCommandInProcess(['connection', 'check', ...args], env)
  assert.equal((await parley()).exitCode, 1, 'there is no workspace')
  const created = await runCommandInProcess(
    ['workspace', 'create', 'Acme', '--owner', 'ana@example.com', '--json'],
    env,
  )
  const { workspace } = JSON.parse(created.stdout)
  assert.match((await parley()).stdout, /^There are no connections yet/)

  const { number } = s.simulator
  const { numberId, accountId, accessToken, appSecret } = number
  const input = {
    channel: 'waba',
    name: 'Sales',
    numberId,
    accountId,
    accessToken,
    appSecret,
    baseUrl: s.simulator.url,
  }
  const path = `/api/team/v1/workspaces/${workspace.id}/connections`
  const made = await ask(url, operatorToken, `POST ${path}`, input)
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const { connection, webhook } = made.body as Loose

  Object.assign(number, { callbackUrl: 'https://other.example/hook', tokenState: 'temporary' })
  const failed = await parley('--connection', 'Sales')
  assert.equal(failed.exitCode, 1, failed.stderr)
  assert.match(failed.stdout, /^Sales \(waba, active\)$/m)
  assert.match(failed.stdout, /^ {2}warning +token +A temporary token: it ends at /m)
  assert.match(
    failed.stdout,
    /^ {2}failed +webhook +Messages to this number are sent to another address \(other\.example\)\.$/m,
  )
  assert.match(failed.stdout, /^ +→ Let Parley receive them\./m)

  // The address of the service in this test is not that of its settings, so the callback itself cannot be called.
  Object.assign(number, { callbackUrl: webhook.url, tokenState: 'valid' })
  const good = await parley('--connection', connection.id, '--workspace', 'Acme', '--json')
  const [report] = JSON.parse(good.stdout).connections
  assert.deepEqual([good.exitCode, report.name, report.steps[0].code], [0, 'Sales', 'token_permanent'], good.stdout)
  for (const secret of [accessToken, appSecret, webhook.verifyToken]) {
    assert.ok(!`${failed.stdout}${good.stdout}`.includes(secret))
  }
  const unknown = await parley('--connection', 'Nobody')
  assert.equal(unknown.exitCode, 1)
  assert.match(unknown.stderr, /Connection "Nobody" not found\. Connections:\n {2}\S+ {2}Sales/)
})
