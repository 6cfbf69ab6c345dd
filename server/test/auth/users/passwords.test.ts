import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deviceOf } from '../../../src/auth/sign-in/visitor.ts'
import { createPasswords } from '../../../src/auth/users/passwords.ts'

test('a password matches its own hash and no other; a missing hash never matches', async () => {
  const passwords = createPasswords()
  const hash = await passwords.hash('correct horse battery')
  assert.match(hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
  assert.equal(await passwords.matches('correct horse battery', hash), true)
  assert.equal(await passwords.matches('correct horse batterz', hash), false)
  assert.equal(await passwords.matches('correct horse battery', null), false)
})

test('a hash contains its cost, so that the cost can be raised later', async () => {
  const hash = await createPasswords({ memoryKib: 64, passes: 1 }).hash('correct horse battery')
  assert.equal(await createPasswords().matches('correct horse battery', hash), true)
})

test('a password matches in two Unicode forms', async () => {
  const passwords = createPasswords({ memoryKib: 64, passes: 1 })
  const hash = await passwords.hash('caf\u00e9 au lait demain')
  assert.equal(await passwords.matches('cafe\u0301 au lait demain', hash), true)
})

test('two hashes run at a time, 64 wait, and further ones get 503', async () => {
  const passwords = createPasswords({ memoryKib: 64, passes: 1 })
  const results = await Promise.allSettled(Array.from({ length: 70 }, () => passwords.hash('correct horse battery')))
  assert.equal(results.filter((one) => one.status === 'fulfilled').length, 66)
  const refused = results.find((one) => one.status === 'rejected')
  assert.equal(refused?.reason.statusCode, 503)
  assert.match(await passwords.hash('correct horse battery'), /^\$argon2id/)
})

const devices: [string | undefined, string][] = [
  ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Linux'],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36 Edg/140.0',
    'Edge on Windows',
  ],
  [
    'Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Mobile Safari/537.36',
    'Chrome on Android',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/604.1',
    'Safari on iOS',
  ],
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15',
    'Safari on macOS',
  ],
  ['curl/8.9', 'Unknown browser'],
  [undefined, 'Unknown browser'],
]

for (const [userAgent, device] of devices) {
  test(`a session is shown as ${device}`, () => assert.equal(deviceOf(userAgent), device))
}
