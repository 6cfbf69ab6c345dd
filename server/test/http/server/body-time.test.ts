import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import type { App } from '../../../src/base/route.ts'
import { limitBodyTime } from '../../../src/http/server/body-time.ts'
import { testServer } from '../../support/http.ts'
import { listen, parseAnswers } from '../../support/raw-http.ts'

/** Begins a request of ten bytes and sends one of them. */
async function begin(app: App, path: string) {
  const socket = connect(await listen(app), '127.0.0.1')
  await once(socket, 'connect')
  socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n[`)
  return socket
}

test('a body that does not arrive in time is answered 408, and its connection ends', async () => {
  const { app } = testServer()
  limitBodyTime(app, { withinMs: 20, lookEveryMs: 10 })
  app.post('/plain', async () => ({}))
  const socket = await begin(app, '/plain')
  const [answer] = parseAnswers(await text(socket))
  assert.equal(answer?.statusCode, 408)
  await app.close()
})

test('a route for files says by itself how long they may take', async () => {
  const { app } = testServer()
  limitBodyTime(app, { withinMs: 20, lookEveryMs: 10 })
  app.post('/plain', async () => ({}))
  app.post('/files', { config: { takesItsTime: true } }, async () => ({ ok: true }))
  const files = await begin(app, '/files')
  const plain = connect(Number(new URL(app.listeningOrigin).port), '127.0.0.1')
  plain.write('POST /plain HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n[')
  // By then the other one would have been cut as well.
  assert.equal(parseAnswers(await text(plain))[0]?.statusCode, 408)
  files.end('1,2,3,4,5]'.slice(1))
  assert.equal(parseAnswers(await text(files))[0]?.statusCode, 200)
  await app.close()
})
