import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startProgram } from '../support/program/program.ts'
import { ask, mainProgram } from '../support/program/service.ts'
import { until } from '../support/until.ts'

const cases: [args: string[], told: string[], path: string][] = [
  [['--demo'], ['phonesUrl', 'ownerPhoneUrl', 'baseUrl', 'numberId'], '/v25.0/'],
  [['--partner'], ['phonesUrl', 'ownerPhoneUrl', 'baseUrl', 'numberId'], '/v1/configs/phone_number'],
]

for (const [args, names, path] of cases)
  test(`parley simulate ${args.join()} prints the settings of a connection, serves the phones and stops at a signal`, async () => {
    let lines = ''
    let words = ''
    const program = startProgram([mainProgram, 'simulate', '--port', '0', '--json', ...args], {
      onLine: (line) => {
        lines += line
      },
      onStderr: (text) => {
        words += text
      },
    })
    await until(() => lines.endsWith('}') && words.includes('Ctrl+C'), 'the simulator')
    const told: Record<string, string> = JSON.parse(lines)
    for (const name of names) assert.ok(told[name], name)
    const { phonesUrl = '', ownerPhoneUrl = '', baseUrl = '', numberId = '', accessToken = '', apiKey = '' } = told
    for (const url of [phonesUrl, ownerPhoneUrl]) assert.equal((await fetch(url)).status, 200)
    const place = path.endsWith('/') ? path + numberId : path
    const headers = { 'D360-API-KEY': apiKey }
    assert.equal((await ask(baseUrl, accessToken, `GET ${place}`, undefined, headers)).status, 200)
    program.kill('SIGTERM')
    await program.exited
  })
