import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scopes } from '../../src/access/scopes.ts'
import { routesOf } from '../../src/http/openapi.ts'
import { postmanCollection } from '../../src/http/postman.ts'
import { inboxWorld } from '../support/inbox-world.ts'
import { runCollection } from '../support/postman.ts'
import { testTeamToken } from '../support/world.ts'

test('every request of the Postman collection succeeds as it stands, from top to bottom', async () => {
  const w = await inboxWorld()
  const { value } = await w.addKey({ scopes })
  await w.customerWrites('Hello!')
  const collection = postmanCollection(routesOf(w.app), 'https://parley.example')
  const runs = await runCollection(w.app, collection, { api_key: value, team_token: testTeamToken })
  const failed = runs.filter(({ statusCode }) => statusCode > 299)
  assert.deepEqual(
    failed.map(({ name, statusCode, body }) => `${statusCode} ${name} ${body}`),
    [],
  )
  assert.ok(runs.length > 50)
})
