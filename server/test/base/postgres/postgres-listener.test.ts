import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DbOptions, openDb } from '../../../src/base/db.ts'
import { parseDatabaseUrl } from '../../../src/base/postgres/address.ts'
import { createConnector } from '../../../src/base/postgres/connect.ts'
import { createListener } from '../../../src/base/postgres/listener.ts'
import { emptyDatabase } from '../../support/database.ts'
import { atEnd } from '../../support/file-lifecycle.ts'
import { databaseByProxy } from '../../support/postgres/cutting-proxy.ts'
import { fakePostgres, startupReply } from '../../support/postgres/fake-postgres.ts'
import { until } from '../../support/until.ts'

/** A listener behind a proxy, and its reported connection states. */
async function hearer(more: DbOptions = {}) {
  const { db, options } = await emptyDatabase()
  const { proxy, options: proxied } = await databaseByProxy(options)
  const said: boolean[] = []
  const heard: string[] = []
  const there = openDb({ ...proxied, ...more, onListening: (isHearing) => said.push(isHearing) })
  atEnd(() => there.close())
  await there.listen('topic', (payload) => heard.push(payload))
  const tell = (payload: string) => db.sql`select pg_notify('topic', ${payload})`
  return { db, there, proxy, said, heard, tell }
}

test('a listener reconnects for as long as it takes, reports loss and restoration once, and receives each message once', async () => {
  const { there, proxy, said, heard, tell } = await hearer()
  let looks = 0
  there.onReconnect(() => looks++)
  assert.equal(there.isListening(), true)
  const before = proxy.accepted()
  proxy.cutAfter(0)
  proxy.cutAll()
  await until(() => proxy.accepted() > before + 2, 'several tries')
  assert.deepEqual([said, looks, there.isListening()], [[false], 0, false])
  proxy.cutAfter(null)
  await until(() => said.length === 2, 'hearing again')
  assert.deepEqual([said, looks, there.isListening()], [[false, true], 1, true])
  await tell('one')
  await tell('two')
  await until(() => heard.length === 2, 'both')
  assert.deepEqual(heard, ['one', 'two'])
})

test('a subscription during an outage opens the one connection for all channels', async (t) => {
  const { options } = await emptyDatabase()
  const { options: byProxy, proxy } = await databaseByProxy(options)
  const connect = createConnector(parseDatabaseUrl(byProxy.url ?? '', {}), {
    applicationName: 'parley test',
    parameters: {},
  })
  let asked = 0
  const deaf = Promise.withResolvers<void>()
  const listener = createListener({
    connect: (signal) => {
      asked++
      return connect(signal)
    },
    onChange: (isHearing) => isHearing || deaf.resolve(),
  })
  atEnd(() => listener.close())
  await listener.listen('one', () => {})
  t.mock.timers.enable({ apis: ['setTimeout'] })
  proxy.cutAll()
  await deaf.promise
  await listener.listen('another', () => {})
  t.mock.timers.tick(60_000)
  assert.equal(asked, 2)
})

test('a silent server counts as lost', async () => {
  const { proxy, said } = await hearer({ silenceMs: 40 })
  proxy.silence(true)
  await until(() => said.length === 1, 'deafness')
  proxy.silence(false)
  await until(() => said.length === 2, 'hearing again')
  assert.deepEqual(said, [false, true])
})

test('a server that is silent on LISTEN blocks nothing', async () => {
  const fake = await fakePostgres((socket) => socket.write(startupReply()))
  const connect = createConnector(parseDatabaseUrl(`postgres://ana@127.0.0.1:${fake.port}/parley`, {}), {
    applicationName: 'parley test',
    parameters: {},
  })
  const listener = createListener({ connect, silenceMs: 20, onChange: () => {} })
  await assert.rejects(listener.listen('topic', () => {}))
  await fake.allClosed()
  await listener.close()
})
