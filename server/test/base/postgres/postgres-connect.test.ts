import assert from 'node:assert/strict'
import { chmod, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { type DatabaseAddress, DatabaseUrlError, parseDatabaseUrl } from '../../../src/base/postgres/address.ts'
import { connect, NoDatabase } from '../../../src/base/postgres/connect.ts'
import { emptyDatabase } from '../../support/database.ts'
import { oncePerFile } from '../../support/file-lifecycle.ts'
import { newFolder } from '../../support/folder.ts'
import {
  failure,
  fakePostgres,
  message,
  oneRow,
  silentServer,
  startupReply,
} from '../../support/postgres/fake-postgres.ts'
import { addressOf, session } from '../../support/postgres/own-postgres.ts'
import { freePort } from '../../support/program/service.ts'

const database = oncePerFile(emptyDatabase)
const settings = { applicationName: 'parley test', parameters: {} }
const here = (ports: readonly number[], more = ''): DatabaseAddress =>
  parseDatabaseUrl(`postgres://ana@${ports.map((port) => `127.0.0.1:${port}`).join()}/parley${more}`, {})

test('a session uses UTC and ISO dates, whatever the database and role have, and has its name and timeouts', async () => {
  const { options, name } = await database()
  const address = addressOf(options)
  const first = await session(address)
  await first.query(`alter database ${name} set timezone = 'Asia/Tokyo'`)
  await first.query(`alter role current_user in database ${name} set datestyle = 'German'`)
  const parameters = { statement_timeout: '15000', lock_timeout: '5000', idle_in_transaction_session_timeout: '10000' }
  const client = await session(address, { applicationName: 'parley 7', parameters })
  const names = ['TimeZone', 'DateStyle', 'application_name', ...Object.keys(parameters)]
  const { rows } = await client.query(`select ${names.map((name) => `current_setting('${name}') as "${name}"`).join()}`)
  assert.deepEqual(rows[0], {
    TimeZone: 'UTC',
    DateStyle: 'ISO, MDY',
    application_name: 'parley 7',
    statement_timeout: '15s',
    lock_timeout: '5s',
    idle_in_transaction_session_timeout: '10s',
  })
  assert.equal(client.pipeline, true)
})

const variables = {
  PGHOST: 'elsewhere',
  PGPORT: '1',
  PGUSER: 'nobody',
  PGDATABASE: 'none',
  PGPASSWORD: 'wrong',
  PGOPTIONS: '-c TimeZone=Asia/Tokyo -c default_transaction_read_only=on',
  PGAPPNAME: 'somebody',
  PGSSLMODE: 'require',
  PGSSLNEGOTIATION: 'direct',
  PGREPLICATION: 'database',
  PGCLIENT_ENCODING: 'LATIN1',
  PGTARGETSESSIONATTRS: 'standby',
}

test('environment variables change neither what is sent nor how', async (t) => {
  const address = addressOf((await database()).options)
  const before = { ...process.env }
  t.after(() => {
    for (const name of Object.keys(variables)) delete process.env[name]
    Object.assign(process.env, before)
  })
  Object.assign(process.env, variables)
  const fake = await fakePostgres((socket) => socket.write(startupReply()))
  await session(here([fake.port]))
  assert.deepEqual(fake.startupMessages[0]?.slice(8).split('\0').slice(0, -2), [
    ...['user', 'ana', 'database', 'parley', 'application_name', 'parley test', 'DateStyle', 'ISO, MDY'],
    ...['TimeZone', 'UTC', 'client_encoding', 'UTF8'],
  ])
  const client = await session(address)
  const { rows } = await client.query(`select current_setting('TimeZone') as zone, current_user as role`)
  assert.deepEqual(rows[0], { zone: 'UTC', role: address.user })
})

const wants: [what: string, request: Buffer][] = [
  ['a plain password', message('R', Buffer.from('00000003', 'hex'))],
  ['an MD5 digest', message('R', Buffer.from('0000000501020304', 'hex'))],
  ['SCRAM', message('R', Buffer.concat([Buffer.from('0000000a', 'hex'), Buffer.from('SCRAM-SHA-256\0\0')]))],
]
for (const [what, request] of wants) {
  test(`without a password no other source is used if the server requires ${what}`, async (t) => {
    const file = join(await newFolder(), 'passwords')
    await writeFile(file, '*:*:*:*:from the file\n')
    await chmod(file, 0o600)
    process.env.PGPASSFILE = file
    t.after(() => delete process.env.PGPASSFILE)
    const sent = Promise.withResolvers<string>()
    const fake = await fakePostgres((socket) => {
      socket.write(request)
      socket.once('data', (bytes) => sent.resolve(bytes.toString())).once('close', () => sent.resolve('nothing'))
    })
    await assert.rejects(connect(here([fake.port]), settings), (error) => {
      assert.ok(error instanceof DatabaseUrlError)
      assert.match(error.message, /has no password, and the server requires one: .*PGPASSWORD/)
      return true
    })
    assert.equal(await sent.promise, 'nothing')
  })
}

test('hosts are tried in order until one is writable, and the others are closed', async (t) => {
  const fakes = await Promise.all([
    silentServer(t),
    fakePostgres((socket) => socket.end(failure('57P03', 'the database system is starting up'))),
    fakePostgres((socket) => socket.end(failure('53300', 'too many clients'))),
    fakePostgres((socket) => socket.write(startupReply('on'))),
    fakePostgres((socket) => socket.write(startupReply('off', 'on'))),
    fakePostgres((socket) => socket.write(startupReply())),
    fakePostgres((socket) => socket.write(startupReply())),
  ])
  const ports = [await freePort(), ...fakes.map(({ port }) => port)]
  const client = await session(here(ports))
  assert.equal(client.port, fakes[5]?.port)
  await Promise.all(fakes.slice(0, 5).map((fake) => fake.allClosed()))
  assert.deepEqual(
    fakes.map(({ startupMessages }) => startupMessages.length),
    [1, 1, 1, 1, 1, 1, 0],
  )
})

test('if no host is suitable, the error names the reason of each, and nothing secret', async (t) => {
  const fakes = await Promise.all([
    silentServer(t),
    fakePostgres((socket) => socket.end(failure('57P03', 'the database system is shutting down'))),
    fakePostgres((socket) => socket.write(startupReply('on'))),
    fakePostgres((socket) => socket.write(startupReply('off', 'on'))),
    fakePostgres((socket) => socket.end()),
  ])
  const refusing = await freePort()
  const address = { ...here([refusing, ...fakes.map(({ port }) => port)]), password: 'hidden' }
  const nowhere = { host: 'nowhere.invalid', port: 5432, tls: false }
  const noSocket = { host: '/nowhere', port: 5432, tls: false }
  const hosts = [...address.hosts, nowhere, noSocket]
  await assert.rejects(connect({ ...address, hosts }, settings), (error) => {
    assert.ok(error instanceof NoDatabase)
    assert.equal(error.code, 'NO_DATABASE')
    const reasons = [
      /^connect ECONNREFUSED/,
      /^does not answer within \d+ ms$/,
      /^the database system is shutting down$/,
      /^is a standby$/,
      /^is read-only \(default_transaction_read_only is on\)$/,
      /^closed the connection before the session was open$/,
      /^(getaddrinfo \w+ nowhere\.invalid|does not answer within \d+ ms)$/,
      /^connect ENOENT/,
    ]
    for (const [index, reason] of reasons.entries()) assert.match(error.refusals[index]?.reason ?? '', reason)
    const ports = [refusing, ...fakes.map(({ port }) => port)]
    const names = [...ports.map((port) => `127.0.0.1:${port}`), 'nowhere.invalid:5432', '/nowhere/.s.PGSQL.5432']
    assert.deepEqual(
      error.refusals.map(({ host }) => host),
      names,
    )
    assert.ok(names.every((name) => error.message.includes(`${name}: `)))
    assert.doesNotMatch(error.message, /hidden/)
    return true
  })
  await Promise.all(fakes.map((fake) => fake.allClosed()))
})

test('target_session_attrs=any accepts a standby', async () => {
  const standby = await fakePostgres((socket) => socket.write(startupReply('on')))
  const client = await session(here([standby.port], '?target_session_attrs=any'))
  assert.equal(client.port, standby.port)
})

const pooled: [what: string, told: [string, string], row: [string, string], words: RegExp | null][] = [
  ['reports a standby as a primary', ['off', 'off'], ['on', 'off'], /: is a standby$/],
  ['reports a read-only server as writable', ['off', 'off'], ['off', 'on'], /: is read-only/],
  ['reports a primary as a standby', ['on', 'on'], ['off', 'off'], null],
]
for (const [what, told, [standby, readOnly], words] of pooled) {
  test(`through a pooler the server itself is queried once, whatever the pooler ${what}`, async () => {
    const fake = await fakePostgres((socket) => {
      socket.write(startupReply(...told))
      socket.on('data', () =>
        socket.write(oneRow({ in_hot_standby: standby, default_transaction_read_only: readOnly })),
      )
    })
    const trial = session(here([fake.port]), { parameters: null })
    await (words === null ? trial : assert.rejects(trial, words))
    // Nothing that a pooler would refuse.
    assert.deepEqual(fake.startupMessages[0]?.match(/TimeZone|DateStyle|timeout|options/g), ['DateStyle', 'TimeZone'])
  })
}

test('a server that does not report whether it is writable is queried', async () => {
  const silent = Buffer.concat([message('R', Buffer.alloc(4)), message('Z', 'I')])
  const fake = await fakePostgres((socket) => {
    socket.write(silent)
    socket.on('data', () => socket.write(oneRow({ in_hot_standby: 'on', default_transaction_read_only: 'off' })))
  })
  await assert.rejects(connect(here([fake.port]), settings), /: is a standby$/)
})

test('the timeout is divided between hosts, so that a silent one leaves time for the next', async (t) => {
  let nowMs = 0
  t.mock.method(performance, 'now', () => nowMs)
  const silent = await silentServer(t, 100, (ms) => {
    nowMs += ms
  })
  const { port } = silent
  await assert.rejects(connect(here([port, port, port]), { ...settings, connectTimeoutMs: 300 }), (error) => {
    assert.ok(error instanceof NoDatabase)
    const reasons = error.refusals.map(({ reason }) => reason)
    assert.deepEqual(reasons, Array(3).fill('does not answer within 100 ms'))
    return true
  })
  assert.equal(silent.startupMessages.length, 3)
  await silent.allClosed()
})

test('an unanswered connection and a canceled one are closed', async () => {
  // A server that never accepts its queued connections sends no start-up message.
  const deaf: Server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1')
  const port = await new Promise<number>((resolve) =>
    deaf.once('listening', () => resolve(Number(Object(deaf.address()).port))),
  )
  const abort = new AbortController()
  deaf.once('connection', () => abort.abort(new Error('enough')))
  await assert.rejects(connect(here([port, port]), settings, abort.signal), /^Error: enough$/)
  await assert.rejects(connect(here([port]), settings, abort.signal), /^Error: enough$/)
  deaf.close()
})
