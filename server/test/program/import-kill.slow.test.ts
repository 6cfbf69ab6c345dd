import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../support/database.ts'
import { ask, newWorkspace, operatorToken, startService } from '../support/program/service.ts'
import { nodeSettings } from '../support/program/two-nodes.ts'

const rows = 2000

test('an import continues after kill -9 without duplicates or losses', async () => {
  const database = await testDatabase()
  const env = nodeSettings(database)
  let service = await startService({ env })
  const { folder, port, url } = service
  const { workspaceId, key } = await newWorkspace(url)
  const base = `/api/team/v1/workspaces/${workspaceId}/lead-imports`
  const call = async (what: string, body?: object) =>
    (await ask(url, operatorToken, what.replace(' ', ` ${base}`), body)).body.import
  const file = `name,externalRef\n${Array.from({ length: rows }, (_, n) => `Lead ${n},ref-${n}`).join('\n')}\n`
  const { id } = await call('POST ', { fileName: 'many.csv', size: file.length })
  const headers = { authorization: `Bearer ${operatorToken}`, 'content-type': 'text/csv' }
  await fetch(`${url}${base}/${id}/content?offset=0`, { method: 'PUT', headers, body: file })
  await call(`POST /${id}/start`, { match: 'none' })

  const until = async (isSo: (now: { rows: number; state: string }) => boolean) => {
    for (;;) {
      const now = await call(`GET /${id}`)
      if (isSo(now)) return now
      assert.equal(now.state, 'running')
    }
  }
  for (const killAt of [1, rows / 2]) {
    await until((now) => now.rows >= killAt)
    service.kill()
    await service.exited
    // Stands for the time after which a worker that makes no progress counts as gone.
    await database.db.sql`
      update lead_imports
      set due_at = now()
      where id = ${id}
        and state = 'running'`
    service = await startService({ folder, port, env })
  }
  const done = await until((now) => now.state !== 'running')
  assert.deepEqual([done.state, done.rows, done.created, done.refused], ['done', rows, rows, 0])
  // Every row makes a lead here, whatever its reference, so that a row written twice would be counted or refused.
  const { body } = await ask(url, key, 'GET /api/v1/leads?limit=1')
  assert.equal(body.pagination.total, rows)
  await service.stop()
})
