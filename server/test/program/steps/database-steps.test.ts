import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { connect, createServer } from 'node:tls'
import { loadConfig } from '../../../src/config.ts'
import { atEnd } from '../../support/file-lifecycle.ts'
import { newFolder } from '../../support/folder.ts'
import { commandsUnder, type } from '../../support/program/operations.ts'
import { shellEnvironment } from '../../support/program/shell.ts'

test('the CA and certificate of "TLS to the database" verify the server by name', async () => {
  const [make = '', ...more] = await commandsUnder('External PostgreSQL')
  assert.deepEqual(more, [])
  const folder = await newFolder()
  await type(make, folder, shellEnvironment({}))
  const [ca, cert, key] = await Promise.all(
    ['db-ca.pem', 'server.crt', 'server.key'].map((name) => readFile(join(folder, name))),
  )
  const server = createServer({ cert, key }, (socket) => socket.end()).listen(0, '127.0.0.1')
  atEnd(async () => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const ask = async (servername: string) => {
    const socket = connect({ host: '127.0.0.1', port, ca, servername })
    await once(socket, 'secureConnect')
    socket.destroy()
  }
  await ask('db1.example.com')
  await assert.rejects(ask('db2.example.com'), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
})

test('the addresses of "External PostgreSQL" are parsed as documented', async () => {
  const blocks = await commandsUnder('External PostgreSQL', '')
  const settings = blocks.filter((block) => block.startsWith('DATABASE_URL='))
  assert.equal(settings.length, 2)
  for (const block of settings) {
    const named = Object.fromEntries(
      block
        .trim()
        .split('\n')
        .map((line) => line.split(/=(.*)/s).slice(0, 2)),
    )
    const { database } = loadConfig({ ...named, PARLEY_MASTER_KEY: 'ab'.repeat(32) })
    assert.ok(database.address?.hosts[0]?.host)
    assert.equal(database.directAddress === null, named.PARLEY_DATABASE_DIRECT_URL === undefined)
  }
})
