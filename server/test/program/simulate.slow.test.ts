import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startProgram } from '../support/program/program.ts'
import { ask, mainProgram } from '../support/program/service.ts'
import { until } from '../support/until.ts'

test('parley simulate says what a connection needs, serves the phones and stops at a signal', async () => {
  const { told, stop } = await simulate('--demo')
  const { phonesUrl = '', ownerPhoneUrl = '', baseUrl = '', numberId, accessToken = '' } = told
  for (const url of [phonesUrl, ownerPhoneUrl]) assert.equal((await fetch(url)).status, 200)
  assert.equal((await ask(baseUrl, accessToken, `GET /v25.0/${numberId}`)).status, 200)
  await stop()
})

test('parley simulate --partner says what a connection to the partner needs', async () => {
  const { told, stop } = await simulate('--partner')
  const { baseUrl = '', apiKey = '', ...others } = told
  assert.deepEqual(Object.keys(others), ['phonesUrl', 'ownerPhoneUrl', 'numberId'])
  const headers = { 'D360-API-KEY': apiKey }
  assert.equal((await ask(baseUrl, '', 'GET /v1/configs/phone_number', undefined, headers)).status, 200)
  await stop()
})

/** Runs `parley simulate`, and answers what it told once it listens. */
async function simulate(...args: string[]): Promise<{ told: Record<string, string>; stop(): Promise<unknown> }> {
  let lines = ''
  let words = ''
  const program = startProgram([mainProgram, 'simulate', '--port', '0', '--json', ...args], {
    onLine: (line) => {
      lines += line
    },
    onWords: (text) => {
      words += text
    },
  })
  await until(() => lines.endsWith('}') && words.includes('Ctrl+C'), 'the simulator')
  const stop = () => {
    program.kill('SIGTERM')
    return program.gone
  }
  return { told: JSON.parse(lines), stop }
}
