import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startProgram } from '../support/program.ts'
import { mainProgram } from '../support/service.ts'

test('parley simulate says what a connection needs, serves the phones and stops at a signal', async () => {
  let lines = ''
  let told = ''
  let ready = () => {}
  const isReady = new Promise<void>((resolve) => {
    ready = () => lines.endsWith('}') && told.includes('Ctrl+C') && resolve()
  })
  const program = startProgram([mainProgram, 'simulate', '--port', '0', '--demo', '--json'], {
    onLine: (line) => {
      lines += line
      ready()
    },
    onWords: (text) => {
      told += text
      ready()
    },
    env: { ...process.env },
  })
  await isReady
  const { phonesUrl, ownerPhoneUrl, baseUrl, numberId, accessToken } = JSON.parse(lines)
  for (const url of [phonesUrl, ownerPhoneUrl]) assert.equal((await fetch(url)).status, 200)
  const headers = { authorization: `Bearer ${accessToken}` }
  assert.equal((await fetch(`${baseUrl}/v25.0/${numberId}`, { headers })).status, 200)
  program.kill('SIGTERM')
  await program.gone
})
