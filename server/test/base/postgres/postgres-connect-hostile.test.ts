import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import type pg from 'pg'
import { type DatabaseAddress, parseDatabaseUrl } from '../../../src/base/postgres/address.ts'
import { connect, NoDatabase } from '../../../src/base/postgres/connect.ts'
import { failure, fakePostgres, message, startupReply, status } from '../../support/postgres/fake-postgres.ts'
import { session } from '../../support/postgres/own-postgres.ts'
import { reset } from '../../support/wire/reset.ts'

// An uncaught error or unhandled rejection, which would end the process, fails its test.

const settings = { applicationName: 'parley test', parameters: {}, connectTimeoutMs: 5_000 }
const at = (port: number): DatabaseAddress => parseDatabaseUrl(`postgres://parley:pw@127.0.0.1:${port}/parley`, {})

test('a server that dies at any byte of its start-up fails the call and leaves nothing behind', async () => {
  let byte = 0
  const die = (socket: Socket) => (byte % 2 === 1 ? reset(socket) : socket.end())
  const fake = await fakePostgres((socket) => socket.write(startupReply().subarray(0, byte), () => die(socket)))
  for (byte = 0; byte < startupReply().length; byte++) {
    await assert.rejects(connect(at(fake.port), settings), NoDatabase, `cut after ${byte}`)
  }
  await fake.allClosed()
})

const unended = message('E', 'SFATAL\0C57P03')
const noise: [what: string, bytes: Buffer | string, words: RegExp][] = [
  ['a web server', 'HTTP/1.1 400 Bad Request\r\n\r\n', /as PostgreSQL does/],
  ['a shell', 'SSH-2.0-OpenSSH_9.2\r\n', /as PostgreSQL does/],
  ['another database', Buffer.from('4a0000000a382e302e3336000c0000', 'hex'), /as PostgreSQL does/],
  ['zeros', Buffer.alloc(4096), /as PostgreSQL does/],
  [
    'a server too old for messages of their own length',
    'Ecould not fork: no memory\n\0',
    /says: could not fork: no memory/,
  ],
  ['a truncated error', unended, /as PostgreSQL does/],
  ['a truncated error, followed by another', Buffer.concat([unended, unended]), /as PostgreSQL does/],
  ['a message of 2 GB', Buffer.from('527fffffff00000000', 'hex'), /as PostgreSQL does/],
  ['a message shorter than its length', Buffer.from('5200000000', 'hex'), /as PostgreSQL does/],
  ['a parameter without a value', message('S', 'in_hot_standby\0'), /as PostgreSQL does/],
  [
    'an unknown authentication method',
    message('R', Buffer.from('00000063', 'hex')),
    /authenticationOk message type 99/,
  ],
  ['Kerberos', message('R', Buffer.from('00000007', 'hex')), /authenticationOk message type 7/],
  ['a second SASL step without a first', message('R', Buffer.from('0000000b723d31', 'hex')), /./],
  ['a final SASL step without a first', message('R', Buffer.from('0000000c763d31', 'hex')), /./],
  ['an unknown SASL', message('R', Buffer.from('0000000a464f4f0000', 'hex')), /SASL/],
  ['an endless list of parameters', Buffer.concat(Array(9000).fill(status('name', 'value'))), /more at start-up/],
  ['unrequested rows', message('D', Buffer.from([0, 0])), /as PostgreSQL does/],
  [
    'an open session that ends at once',
    Buffer.concat([startupReply(), failure('57P01', 'terminating connection')]),
    /terminating connection/,
  ],
]
for (const [what, bytes, words] of noise) {
  test(`a server with such an answer is refused at once: ${what}`, async () => {
    const fake = await fakePostgres((socket) => socket.write(bytes))
    await assert.rejects(connect(at(fake.port), settings), (error) => {
      assert.ok(error instanceof NoDatabase)
      assert.match(error.message, words)
      assert.doesNotMatch(error.message, /does not answer within/)
      return true
    })
    await fake.allClosed()
  })
}

test('a start-up with any byte changed opens a session or fails the call', async () => {
  let bytes = startupReply()
  // Nothing more arrives.
  const fake = await fakePostgres((socket) => socket.end(bytes))
  for (const change of [0x01, 0x80]) {
    for (let byte = 0; byte < startupReply().length; byte++) {
      bytes = Buffer.concat([startupReply(), failure('57P01', 'end')])
      bytes[byte] = (bytes[byte] ?? 0) ^ change
      const trial = connect(at(fake.port), settings)
      const client = await trial.catch((error: unknown) => void assert.ok(error instanceof NoDatabase, String(error)))
      client?.on('error', () => {})
      await client?.end()
    }
  }
  await fake.allClosed()
})

test('an error directly after start-up reaches a listener that the caller adds synchronously', async () => {
  for (const end of [reset, (socket: Socket) => socket.end()]) {
    const fake = await fakePostgres((socket) => socket.write(startupReply(), () => end(socket)))
    const trial = connect(at(fake.port), settings)
    const fate = await trial.then(errorOf, (error: unknown) => error)
    assert.ok(fate instanceof Error)
  }
})

test('an invalid message ends its session and nothing else', async () => {
  const fake = await fakePostgres((socket) => {
    socket.write(startupReply())
    socket.once('data', () => socket.write(message('R', Buffer.from('00000007', 'hex'))))
  })
  const client = await connect(at(fake.port), settings)
  const fate = errorOf(client)
  await assert.rejects(client.query('select 1'), /authenticationOk message type 7/)
  assert.match(String(await fate), /authenticationOk message type 7/)
  await fake.allClosed()
})

test('no listener of the start-up remains', async () => {
  const fake = await fakePostgres((socket) => socket.write(startupReply()))
  const client = await connect(at(fake.port), settings)
  assert.equal(client.listenerCount('error'), 0)
  assert.equal(client.connection.listenerCount('parameterStatus'), 0)
  const { stream } = client.connection
  assert.equal(stream.listenerCount('connect'), 0)
  // The driver's own, and one that keeps a late error from ending the process.
  assert.deepEqual([stream.listenerCount('error'), stream.listenerCount('close')], [2, 1])
  client.on('error', () => {})
  await client.end()
})

test('a session ends as soon as it is closed, and a second one is not affected', async () => {
  const fake = await fakePostgres((socket) => socket.write(startupReply()))
  const [first, second] = [await session(at(fake.port)), await session(at(fake.port))]
  await first.end()
  assert.equal(second.getTransactionStatus(), 'I')
})

/** Returns the first error: the driver reports the end of a connection after its cause. */
function errorOf(client: pg.Client): Promise<Error> {
  return new Promise((resolve) => client.on('error', resolve))
}
