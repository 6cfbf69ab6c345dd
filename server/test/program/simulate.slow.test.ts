import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startProgram } from '../support/program/program.ts'
import { mainProgram } from '../support/program/service.ts'

test('parley simulate says what a connection needs, serves the phones and stops at a signal', async () => {
  const { told, stop } = await simulate('--demo')
  const { phonesUrl = '', ownerPhoneUrl = '', baseUrl, numberId, accessToken } = told
  for (const url of [phonesUrl, ownerPhoneUrl]) assert.equal((await fetch(url)).status, 200)
  const headers = { authorization: `Bearer ${accessToken}` }
  assert.equal((await fetch(`${baseUrl}/v25.0/${numberId}`, { headers })).status, 200)
  await stop()
})

test('parley simulate --partner says what a connection to the partner needs', async () => {
  const { told, stop } = await simulate('--partner')
  const { baseUrl, apiKey = '', ...others } = told
  assert.deepEqual(Object.keys(others), ['phonesUrl', 'ownerPhoneUrl', 'numberId'])
  const headers = { 'D360-API-KEY': apiKey }
  assert.equal((await fetch(`${baseUrl}/v1/configs/phone_number`, { headers })).status, 200)
  await stop()
})

/** Runs `parley simulate`, and answers what it told once it listens. */
async function simulate(...args: string[]): Promise<{ told: Record<string, string>; stop(): Promise<unknown> }> {
  let lines = ''
  let words = ''
  let ready = () => {}
  const isReady = new Promise<void>((resolve) => {
    ready = () => lines.endsWith('}') && words.includes('Ctrl+C') && resolve()
  })
  const program = startProgram([mainProgram, 'simulate', '--port', '0', '--json', ...args], {
    onLine: (line) => {
      lines += line
      ready()
    },
    onWords: (text) => {
      words += text
      ready()
    },
    env: { ...process.env },
  })
  await isReady
  const stop = () => {
    program.kill('SIGTERM')
    return program.gone
  }
  return { told: JSON.parse(lines), stop }
}
