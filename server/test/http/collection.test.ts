import assert from 'node:assert/strict'
import { test } from 'node:test'
import { routesOf } from '../../src/http/openapi.ts'
import { postmanCollection } from '../../src/http/postman.ts'
import { runCollection } from '../support/postman.ts'
import { testTeamToken, world } from '../support/world.ts'

test('every request of the Postman collection succeeds as it stands, from top to bottom', async () => {
  const w = await world()
  const collection = postmanCollection(routesOf(w.app), 'https://parley.example')
  const runs = await runCollection(w.app, collection, { api_key: w.key, team_token: testTeamToken })
  const failed = runs.filter(({ statusCode }) => statusCode > 299)
  assert.deepEqual(
    failed.map(({ name, statusCode }) => `${statusCode} ${name}`),
    [],
  )
  assert.ok(runs.length > 35)
})
