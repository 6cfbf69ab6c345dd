import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { test } from 'node:test'
import { createServer as createTlsServer } from 'node:tls'
import { DatabaseUrlError, parseDatabaseUrl } from '../../../src/base/postgres/address.ts'
import { connect } from '../../../src/base/postgres/connect.ts'
import { newFolder } from '../../support/folder.ts'
import { makeAuthority } from '../../support/outgoing/make-certificate.ts'
import { acceptTls, fakePostgres } from '../../support/postgres/fake-postgres.ts'
import { reset } from '../../support/wire/reset.ts'

const settings = { applicationName: 'parley test', parameters: {} }
const { cert, key } = makeAuthority().certify(['localhost'])
const strange: [what: string, answer: (socket: Socket) => void, words: RegExp][] = [
  ['the server sends more than one byte', (socket) => socket.write('Shello'), /does not answer the TLS request/],
  ['the server answers with an error', (socket) => socket.write('Eno\0'), /does not answer the TLS request/],
  ['the server closes', (socket) => socket.end(), /closed the connection/],
  ['the server accepts and closes', (socket) => socket.end('S'), /closed the connection|TLS: /],
  [
    'the server accepts and resets',
    (socket) => socket.write('S', () => reset(socket)),
    /ECONNRESET|closed the connection|TLS: /,
  ],
  ['the server accepts but sends no TLS', (socket) => atFirst(socket, () => socket.write('hello, world')), /TLS: /],
  [
    'the server resets during the handshake',
    (socket) => atFirst(socket, () => reset(socket)),
    /ECONNRESET|closed the connection|TLS: /,
  ],
  [
    'the server closes after the handshake',
    (socket) => acceptTls(socket, { cert, key }).end(),
    /closed the connection|TLS: /,
  ],
  [
    'the server sends HTTP through TLS',
    (socket) => acceptTls(socket, { cert, key }).write('HTTP/1.1 400 Bad Request\r\n\r\n'),
    /as PostgreSQL does/,
  ],
]
for (const [what, answer, words] of strange) {
  test(`a TLS negotiation is aborted without further effects when ${what}`, async () => {
    const fake = await fakePostgres(answer)
    const address = parseDatabaseUrl(`postgres://ana:pw@localhost:${fake.port}/parley?sslmode=require`, {})
    await assert.rejects(connect(address, settings), words)
    await fake.allClosed()
  })
}

test('a server that accepts TLS and is silent is closed', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const fake = await fakePostgres((socket) => atFirst(socket, () => t.mock.timers.tick(60_000)))
  const address = parseDatabaseUrl(`postgres://ana:pw@localhost:${fake.port}/parley?sslmode=require`, {})
  await assert.rejects(connect(address, settings), /does not answer within/)
  await fake.allClosed()
})

test('a server with direct TLS must confirm that it is PostgreSQL', async () => {
  const other = createTlsServer({ cert, key }).listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const parameters = 'sslmode=require&sslnegotiation=direct'
  const address = parseDatabaseUrl(`postgres://ana:pw@localhost:${port}/parley?${parameters}`, {})
  await assert.rejects(connect(address, settings), /does not confirm that it is PostgreSQL/)
  await new Promise((resolve) => other.close(resolve))
})

/** Accepts TLS, and calls back at the first message in it. */
function atFirst(socket: Socket, act: () => void): void {
  socket.once('data', act)
  socket.write('S')
}

test('an unreadable file is named by its parameter, as a permanent error', async () => {
  for (const name of ['sslrootcert=@none', `sslcert=@none&sslkey=${import.meta.filename}`]) {
    const query = `sslmode=verify-full&${name}`.replaceAll('@', `${await newFolder()}/`)
    const address = parseDatabaseUrl(`postgres://ana@localhost/parley?${query}`, {})
    await assert.rejects(connect(address, settings), (error) => {
      assert.ok(error instanceof DatabaseUrlError)
      assert.match(error.message, /names a file for (sslrootcert|sslcert) that cannot be read \(ENOENT\)$/)
      return true
    })
  }
})
