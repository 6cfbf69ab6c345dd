import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RouteOptions } from 'fastify'
import { appWithoutDatabase } from '../../../../scripts/contract.ts'

test('no answer that repeats the token of a session is compressed', async (t) => {
  const routes: RouteOptions[] = []
  const app = await appWithoutDatabase((server) => {
    server.addHook('onRoute', (route) => {
      routes.push(route)
    })
  })
  t.after(() => app.close())
  // What changes something makes a session, and with it a token that was never sent before.
  const readers = routes.filter(({ method }) => [method].flat().includes('GET'))
  const namesToken = ({ schema = {} }: RouteOptions) => JSON.stringify(schema.response ?? {}).includes('"csrfToken"')
  const pages = ['/invite/:token']
  const repeating = readers.filter((route) => namesToken(route) || pages.includes(route.url))
  assert.deepEqual(
    repeating.map(({ url, config }) => [url, config?.repeatsToken]),
    [
      ['/api/team/v1/session', true],
      ['/invite/:token', true],
    ],
  )
})
