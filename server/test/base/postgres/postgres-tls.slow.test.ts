import assert from 'node:assert/strict'
import { appendFile, chown, writeFile } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import type pg from 'pg'
import { type DatabaseAddress, parseDatabaseUrl, socketAddress } from '../../../src/base/postgres/address.ts'
import { connect, NoDatabase } from '../../../src/base/postgres/connect.ts'
import { oncePerFile } from '../../support/file-lifecycle.ts'
import { newFolder } from '../../support/folder.ts'
import { type Authority, makeAuthority } from '../../support/outgoing/make-certificate.ts'
import { acceptTls, fakePostgres } from '../../support/postgres/fake-postgres.ts'
import { ownPostgres, session } from '../../support/postgres/own-postgres.ts'
import { freePort } from '../../support/program/service.ts'

const settings = { applicationName: 'parley test', parameters: {} }
const wrongName = /does not match certificate's altnames/
const unknownAuthority =
  /TLS: (unable to verify the first certificate|unable to get local issuer certificate|self-signed certificate in certificate chain)/

interface Server {
  port: number
  password: string
  authority: Authority
  /** Folder of the files that the addresses name. */
  files: string
  socketFolder: string
  isEncrypted(client: pg.Client): Promise<boolean>
}

// As documented for operators: a certificate authority, a certificate for the server's name, and TLS for all TCP
// connections.
const server = oncePerFile(async (): Promise<Server> => {
  const port = await freePort()
  const { folder, password, socketFolder } = await ownPostgres({ listen_addresses: '127.0.0.1', port })
  const authority = makeAuthority()
  const files = await newFolder()
  const own = authority.certify(['localhost'])
  const role = authority.certify([], 'certified')
  const written = {
    'ca.pem': authority.cert,
    'other.pem': makeAuthority('Another authority').cert,
    'role.pem': role.cert,
    'role.key': role.key,
  }
  for (const [name, text] of Object.entries(written)) await writeFile(join(files, name), text)
  await keepForServer(join(folder, 'postgres'), {
    'server.crt': own.cert,
    'server.key': own.key,
    'ca.crt': authority.cert,
  })
  const rules = ['all parley all scram-sha-256', 'all trusted all trust', 'all certified all cert']
  await appendFile(join(folder, 'postgres', 'pg_hba.conf'), rules.map((rule) => `hostssl ${rule}\n`).join(''))

  const login = socketAddress({ socketFolder, database: 'parley', user: 'parley', password })
  const admin = await session({ ...login, hosts: [{ host: socketFolder, port, tls: false }] })
  await admin.query('create role trusted login')
  await admin.query('create role certified login')
  await admin.query(`alter system set ssl_ca_file = 'ca.crt'`)
  await admin.query('alter system set ssl = on')
  await admin.query('select pg_reload_conf()')
  const isEncrypted = async (client: pg.Client) => {
    const { rows } = await client.query('select ssl from pg_stat_ssl where pid = pg_backend_pid()')
    return rows[0]?.ssl === true
  }
  return { port, password, authority, files, socketFolder, isEncrypted }
})

async function keepForServer(cluster: string, texts: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(texts)) {
    await writeFile(join(cluster, name), text, { mode: 0o600 })
    if (process.getuid?.() === 0) await chown(join(cluster, name), 65534, 65534)
  }
}

async function addressOf(host: string, parameters: string, user = 'parley'): Promise<DatabaseAddress> {
  const { port, password, files } = await server()
  const query = parameters.replaceAll('@', `${files}/`)
  return parseDatabaseUrl(`postgres://${user}:${password}@${host}:${port}/parley?${query}`, {})
}

const encrypted: [host: string, parameters: string, user?: string][] = [
  ['localhost', 'sslmode=verify-full&sslrootcert=@ca.pem'],
  ['localhost', 'sslrootcert=@ca.pem'],
  ['localhost', 'sslmode=verify-full&sslrootcert=@ca.pem&sslnegotiation=direct'],
  ['localhost', 'sslmode=verify-full&sslrootcert=@ca.pem&channel_binding=require'],
  ['localhost', 'sslmode=verify-full&sslrootcert=@ca.pem&sslcert=@role.pem&sslkey=@role.key', 'certified'],
  ['127.0.0.1', 'sslmode=verify-ca&sslrootcert=@ca.pem'],
  ['127.0.0.1', 'sslmode=require&sslrootcert=@ca.pem'],
  ['127.0.0.1', 'sslmode=require'],
  ['127.0.0.1', 'sslmode=require&sslnegotiation=direct'],
  ['127.0.0.1', 'sslmode=prefer'],
]
for (const [host, parameters, user] of encrypted) {
  test(`a session is encrypted: ${host} with ${parameters}`, async () => {
    const { isEncrypted } = await server()
    const client = await session(await addressOf(host, parameters, user))
    assert.equal(await isEncrypted(client), true)
  })
}

const refused: [host: string, parameters: string, words: RegExp][] = [
  ['127.0.0.1', 'sslmode=verify-full&sslrootcert=@ca.pem', wrongName],
  ['127.0.0.1', 'sslmode=verify-full&sslrootcert=@ca.pem&sslnegotiation=direct', wrongName],
  ['localhost', 'sslmode=verify-full&sslrootcert=@other.pem', unknownAuthority],
  ['localhost', 'sslmode=verify-full', unknownAuthority],
  ['localhost', 'sslmode=verify-full&sslrootcert=system', unknownAuthority],
  ['127.0.0.1', 'sslmode=verify-ca&sslrootcert=@other.pem', unknownAuthority],
  ['127.0.0.1', 'sslmode=require&sslrootcert=@other.pem', unknownAuthority],
]
for (const [host, parameters, words] of refused) {
  test(`no session is opened, whatever the environment says: ${host} with ${parameters}`, async (t) => {
    const address = await addressOf(host, parameters)
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
    t.after(() => delete process.env.NODE_TLS_REJECT_UNAUTHORIZED)
    await assert.rejects(connect(address, settings), (error) => {
      assert.ok(error instanceof NoDatabase)
      assert.match(error.message, words)
      return true
    })
  })
}

test('a server that requires TLS refuses a session without it, permanently', async () => {
  for (const parameters of ['', 'sslmode=disable']) {
    await assert.rejects(connect(await addressOf('127.0.0.1', parameters), settings), { code: '28000' })
  }
})

test('a wrong password is reported as such through TLS', async () => {
  const address = await addressOf('localhost', 'sslmode=verify-full&sslrootcert=@ca.pem')
  await assert.rejects(connect({ ...address, password: 'wrong' }, settings), { code: '28P01' })
})

test('a password with channel binding is sent to no other server', async () => {
  const { authority, port, socketFolder } = await server()
  const parameters = 'sslmode=verify-full&sslrootcert=@ca.pem&channel_binding=require'
  // A machine in the middle with a certificate for the name: the password of the server must not pass it.
  const { cert, key } = authority.certify(['localhost'])
  const front = await fakePostgres((socket) => {
    const secure = acceptTls(socket, { cert, key })
    const inner = createConnection({ path: `${socketFolder}/.s.PGSQL.${port}` })
    for (const one of [secure, inner]) one.on('error', () => {})
    secure.pipe(inner).pipe(secure)
    socket.on('close', () => inner.destroy())
  })
  const between = (address: DatabaseAddress) => ({
    ...address,
    hosts: address.hosts.map((host) => ({ ...host, port: front.port })),
  })
  const bound = await addressOf('localhost', parameters)
  await assert.rejects(connect(between(bound), settings), /does not support channel binding/)
  const trusted = await addressOf('localhost', parameters, 'trusted')
  await assert.rejects(connect(trusted, settings), /without proof that it knows the password/)
  // Without channel binding a certificate for the name is sufficient.
  const client = await session(between(await addressOf('localhost', 'sslmode=verify-full&sslrootcert=@ca.pem')))
  await client.query('select 1')
})

test('a server without TLS is refused if TLS is required and accepted if it is preferred', async () => {
  const port = await freePort()
  const { password, folder } = await ownPostgres({ listen_addresses: '127.0.0.1', port })
  await appendFile(join(folder, 'postgres', 'pg_hba.conf'), 'host all all all scram-sha-256\n')
  const { socketFolder, isEncrypted } = { ...(await server()), socketFolder: join(folder, 'postgres') }
  const login = socketAddress({ socketFolder, database: 'parley', user: 'parley', password })
  const admin = await session({ ...login, hosts: [{ host: socketFolder, port, tls: false }] })
  await admin.query('select pg_reload_conf()')
  const at = (mode: string) =>
    parseDatabaseUrl(`postgres://parley:${password}@127.0.0.1:${port}/parley?sslmode=${mode}`, {})
  assert.equal(await isEncrypted(await session(at('prefer'))), false)
  for (const mode of ['require', 'verify-full']) {
    await assert.rejects(
      connect(at(mode), settings),
      new RegExp(`does not support TLS, which sslmode=${mode} requires$`),
    )
  }
})
