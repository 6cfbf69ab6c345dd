import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type DatabaseAddress,
  type DatabaseTls,
  DatabaseUrlError,
  parseDatabaseUrl,
  socketAddress,
} from '../../../src/base/postgres/address.ts'

const prefer: DatabaseTls = {
  mode: 'prefer',
  rootCertificateFile: null,
  client: null,
  isDirect: false,
  bindsChannel: false,
}
const address: DatabaseAddress = {
  hosts: [{ host: 'db', port: 5432, tls: true }],
  database: 'parley',
  user: 'ana',
  password: null,
  tls: prefer,
  writable: true,
  connectTimeoutMs: null,
}
const plain = (host: string, port = 5432) => ({ host, port, tls: false })
const secure = (host: string, port = 5432) => ({ host, port, tls: true })
const withTls = (tls: Partial<DatabaseTls>) => ({ tls: { ...prefer, ...tls } })

const read: [url: string, part: Partial<DatabaseAddress>][] = [
  ['postgres://ana@db/parley', address],
  ['postgresql://ana@db/parley', address],
  ['postgres://ana@db', { database: 'ana' }],
  ['postgres://ana@db/', { database: 'ana' }],
  ['postgres://ana@db?connect_timeout=3', { database: 'ana', connectTimeoutMs: 3000 }],
  ['postgres://ana:p%40ss%2Fw%C3%B6rd@db/parley', { password: 'p@ss/wörd' }],
  ['postgres://ana:a:b?c#d@db/parley', { password: 'a:b?c#d' }],
  ['postgres://ana:a+b@db/parley', { password: 'a+b' }],
  ['postgres://%61na@db/sales%2Fnorth', { user: 'ana', database: 'sales/north' }],
  ['postgres://db/parley?user=ana&password=pw', { user: 'ana', password: 'pw' }],
  ['postgres://ana@db?dbname=sales', { database: 'sales' }],
  [
    'postgres://ana@a:5433,b,[2001:db8::1]:5434/parley',
    { hosts: [secure('a', 5433), secure('b'), secure('2001:db8::1', 5434)] },
  ],
  ['postgres://ana@/parley?host=a,b&port=5433', { hosts: [secure('a', 5433), secure('b', 5433)] }],
  ['postgres://ana@/parley?host=a,b&port=5433,5434', { hosts: [secure('a', 5433), secure('b', 5434)] }],
  ['postgres://ana@/parley?host=a,b&port=,5434', { hosts: [secure('a'), secure('b', 5434)] }],
  ['postgres://ana@a,b/parley?port=5433', { hosts: [secure('a', 5433), secure('b', 5433)] }],
  ['postgres:///parley?host=/run/postgresql&user=ana', { hosts: [plain('/run/postgresql')], tls: null }],
  ['postgres://ana@%2Frun%2Fpostgresql:5433/parley', { hosts: [plain('/run/postgresql', 5433)], tls: null }],
  // Writable servers.
  ['postgres://ana@db/parley?target_session_attrs=read-write', { writable: true }],
  ['postgres://ana@db/parley?target_session_attrs=primary', { writable: true }],
  ['postgres://ana@db/parley?target_session_attrs=any', { writable: false }],
  // TLS.
  ['postgres://ana@localhost/parley', { hosts: [plain('localhost')], tls: null }],
  ['postgres://ana@127.1.2.3,[::1]/parley', { hosts: [plain('127.1.2.3'), plain('::1')], tls: null }],
  ['postgres://ana@localhost,db/parley', { hosts: [plain('localhost'), secure('db')], tls: prefer }],
  ['postgres://ana@localhost/parley?sslmode=prefer', { hosts: [secure('localhost')], tls: prefer }],
  ['postgres://ana@db/parley?sslmode=disable', { hosts: [plain('db')], tls: null }],
  ['postgres://ana@db/parley?sslmode=require', withTls({ mode: 'require' })],
  ['postgres://ana@db/parley?ssl=true', withTls({ mode: 'require' })],
  [
    'postgres://ana@db/parley?sslmode=require&sslrootcert=/ca',
    withTls({ mode: 'verify-ca', rootCertificateFile: '/ca' }),
  ],
  [
    'postgres://ana@db/parley?sslmode=verify-ca&sslrootcert=/ca',
    withTls({ mode: 'verify-ca', rootCertificateFile: '/ca' }),
  ],
  ['postgres://ana@db/parley?sslmode=verify-full', withTls({ mode: 'verify-full' })],
  ['postgres://ana@db/parley?sslrootcert=system', withTls({ mode: 'verify-full' })],
  ['postgres://ana@db/parley?sslrootcert=/ca', withTls({ mode: 'verify-full', rootCertificateFile: '/ca' })],
  [
    'postgres://ana@db/parley?sslmode=require&sslcert=/c&sslkey=/k',
    withTls({ mode: 'require', client: { certificateFile: '/c', keyFile: '/k' } }),
  ],
  ['postgres://ana@db/parley?sslmode=require&sslnegotiation=direct', withTls({ mode: 'require', isDirect: true })],
  [
    'postgres://ana@db/parley?sslmode=require&channel_binding=require',
    withTls({ mode: 'require', bindsChannel: true }),
  ],
  ['postgres://ana@/parley?host=/run&sslmode=verify-full', { hosts: [plain('/run')], tls: null }],
  // Parameters of other tools that change nothing.
  ['postgres://ana@db/parley?application_name=x&gssencmode=prefer&keepalives=1&channel_binding=prefer', address],
]

for (const [url, part] of read) {
  test(`it is parsed like libpq: ${url}`, () => {
    const found = parseDatabaseUrl(url, {})
    assert.deepEqual(found, { ...found, ...part })
  })
}

test('a password comes from the URL, or else from PGPASSWORD, which may be empty', () => {
  assert.equal(parseDatabaseUrl('postgres://ana:here@db/parley', { PGPASSWORD: 'there' }).password, 'here')
  assert.equal(parseDatabaseUrl('postgres://ana:@db/parley', { PGPASSWORD: 'there' }).password, 'there')
  assert.equal(parseDatabaseUrl('postgres://ana@db/parley', { PGPASSWORD: '' }).password, null)
})

test('a socket address has one host, its folder, and requires a writable server', () => {
  const login = { socketFolder: '/data', database: 'parley', user: 'ana', password: 'pw' }
  const { socketFolder, ...rest } = login
  const expected = { ...address, ...rest, hosts: [plain(socketFolder)], tls: null }
  assert.deepEqual(socketAddress(login), expected)
})

const at = 'postgres://ana:hidden@db'
const refused: [url: string, words: RegExp][] = [
  ['mysql://ana:hidden@db/x', /^must be a URL that starts with postgres:\/\/ or postgresql:\/\/$/],
  ['hidden', /starts with postgres:\/\//],
  [`${at}/${'x'.repeat(4096)}`, /at most 4096 characters/],
  [`postgres://ana@${'db,'.repeat(16)}db/x`, /at most 16 hosts/],
  ['postgres://ana:hid@den@db/x', /an extra @.*%40.*%2F/],
  ['postgres://ana:hid/den@db/x', /port from 1 to 65535.*%2F/],
  [`${at}:0/x`, /port from 1 to 65535/],
  [`${at}:65536/x`, /port from 1 to 65535/],
  [`${at}:54x/x`, /port from 1 to 65535/],
  ['postgres://ana@2001:db8::1/x', /IPv6 address without brackets: write \[2001:db8::1\]:5432/],
  ['postgres://ana@a,,b/x', /empty host/],
  ['postgres://ana@a;b/x', /invalid host/],
  [`postgres://ana@${'a'.repeat(254)}/x`, /invalid host/],
  ['postgres://ana:hidden@/x', /names no host/],
  ['postgres:///x?user=ana', /names no host/],
  ['postgres://db/x', /names no user: write postgres:\/\/user@host/],
  ['postgres://:hidden@db/x', /names no user/],
  [`${at}/x?host=other`, /names hosts twice/],
  [`${at}:5432/x?port=5433`, /names ports twice/],
  ['postgres://ana@/x?host=a,b,c&port=1,2', /one port for all hosts, or one for each/],
  [`${at}/x?user=bob`, /names the user twice/],
  [`${at}/x?password=other`, /names the password twice/],
  [`${at}/x?dbname=other`, /names the database twice/],
  ['postgres://ana:100%@db/x', /an invalid % escape.*%25/],
  ['postgres://ana:%ff@db/x', /an invalid % escape/],
  ['postgres://ana:%00@db/x', /an invalid % escape/],
  [`${at}/x?hidden`, /name=value/],
  [`${at}/x?sslmode=require&sslmode=disable`, /has the parameter sslmode twice/],
  [`${at}/x?sslmod=require`, /has the unknown parameter sslmod; known are host, port,.*sslmode/],
  [`${at}/x?options=hidden`, /must not have the parameter options: .*alter role/],
  [`${at}/x?passfile=hidden`, /must not have the parameter passfile: .*PGPASSWORD/],
  [`${at}/x?gssencmode=require`, /gssencmode=require/],
  [`${at}/x?target_session_attrs=standby`, /target_session_attrs=standby, but Parley writes/],
  [`${at}/x?target_session_attrs=hidden`, /read-write, primary or any/],
  [`${at}/x?connect_timeout=0`, /from 1 to 60/],
  [`${at}/x?connect_timeout=5000`, /from 1 to 60/],
  [`${at}/x?sslmode=hidden`, /one of disable, prefer, require, verify-ca, verify-full/],
  [`${at}/x?sslmode=allow`, /sslmode=allow.*prefer, or better verify-full/],
  [`${at}/x?ssl=1`, /sslmode=… instead of ssl=…/],
  [`${at}/x?sslmode=require&ssl=true`, /sslmode=… instead of ssl=…/],
  [`${at}/x?sslmode=prefer&sslrootcert=/ca`, /sslrootcert with sslmode=prefer.*verify-full/],
  [`${at}/x?sslmode=require&sslrootcert=system`, /use sslmode=verify-full/],
  [`${at}/x?sslmode=verify-ca`, /use sslmode=verify-full, or sslrootcert/],
  [`${at}/x?sslmode=verify-full&sslrootcert=`, /a file as its sslrootcert/],
  [`${at}/x?sslmode=require&sslcert=/c`, /both sslcert and sslkey/],
  [`${at}/x?sslnegotiation=direct`, /needs sslmode=require or stronger/],
  [`${at}/x?sslnegotiation=hidden`, /postgres or direct/],
  [`${at}/x?channel_binding=require`, /needs TCP and sslmode=require/],
  ['postgres://ana@/x?host=/run&sslmode=require&channel_binding=require', /needs TCP/],
  [`${at}/x?channel_binding=hidden`, /require, prefer or disable/],
]

for (const [url, words] of refused) {
  test(`it is refused without repeating it: ${url.slice(0, 80)}`, () => {
    assert.throws(
      () => parseDatabaseUrl(url, {}),
      (error) => {
        assert.ok(error instanceof DatabaseUrlError)
        assert.match(error.detail, words)
        assert.doesNotMatch(`${error.detail} ${error.message} ${error.stack}`, /hid|den/)
        return true
      },
    )
  })
}
