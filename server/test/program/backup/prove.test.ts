import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { inSnapshot, withSession } from '../../../src/base/copy/catalog.ts'
import type { Sql } from '../../../src/base/db.ts'
import { parseDatabaseUrl } from '../../../src/base/postgres/address.ts'
import { verifyFiles } from '../../../src/cli/backup/verify.ts'
import { type MediaStore, storePath } from '../../../src/media/store/store.ts'
import { databaseSettings, testDatabase } from '../../support/database.ts'
import { newFolder } from '../../support/folder.ts'
import { runCommandInProcess } from '../../support/program/run-command.ts'
import { serviceEnvironment } from '../../support/program/service.ts'

const masterKey = randomBytes(32).toString('hex')

test('a restored external database is verified: keys, encrypted values, files and feeds; problems are named', async () => {
  const database = await testDatabase()
  const { sql } = database.db
  const folder = await newFolder()
  const settings = { ...databaseSettings(database), PARLEY_MASTER_KEY: masterKey }
  const parley = (more: Record<string, string>, ...args: string[]) =>
    runCommandInProcess(args, serviceEnvironment(folder, 1, { ...settings, ...more }))
  assert.equal((await parley({}, 'workspace', 'create', 'Acme', '--owner', 'ana@example.com')).exitCode, 0)
  const [workspace] = await sql<{ id: string }[]>`select id from workspaces`
  const workspaceId = workspace?.id ?? ''
  const findings = async (more: Record<string, string> = {}): Promise<string[]> => {
    const { exitCode, stdout, stderr } = await parley(more, 'prove', '--json')
    assert.ok(stdout !== '', stderr)
    const found: string[] = JSON.parse(stdout).findings
    assert.equal(exitCode, found.length === 0 ? 0 : 1)
    return found
  }

  const good = await parley({}, 'prove')
  assert.equal(good.exitCode, 0, good.stdout)
  assert.match(good.stdout, /Decrypted [1-9]\d* values of 1 workspaces/)
  assert.match(good.stdout, /No problems found\.\n$/)

  // Of one row, and of one key, that do not open.
  const [invitation] = await sql<{ id: string; email: Buffer }[]>`select id, email from invitations`
  assert.ok(invitation)
  const setEmail = (email: Buffer) => sql`update invitations set email = ${email} where id = ${invitation.id}`
  const altered = Buffer.from(invitation.email)
  altered.writeUInt8(altered.readUInt8(20) ^ 1, 20)
  await setEmail(altered)
  assert.match((await findings()).join('\n'), /^invitations: /)
  await setEmail(invitation.email)
  const strange = await findings({ PARLEY_MASTER_KEY: randomBytes(32).toString('hex') })
  assert.match(strange.join('\n'), /keys of the installation: Secrets are wrapped by master key [0-9a-f]{8}/)

  // A file that a row names, a place beyond the end of the feed, and a store that is not ours.
  await nameFiles(sql, workspaceId, [randomUUID()])
  assert.match((await findings()).join('\n'), /^files: 1 of 1 referenced files are not in the media folder/)
  await sql`delete from media`
  await sql`
    insert into events (workspace_id, id, name, subject_id, payload, occurred_at, position)
    values (${workspaceId}, ${randomUUID()}, 'lead.created', ${randomUUID()}, '', now(), 999999)`
  assert.match(
    (await findings()).join('\n'),
    /^events of workspace .*: one has position 999999, but the feed ends at \d+$/,
  )
  await sql`delete from events where position = 999999`
  await rm(join(database.mediaFolder, 'parley-store.json'))
  assert.match((await findings()).join('\n'), /^files: The media folder .* has no parley-store\.json/)

  const advice = await parley({ PGPASSWORD: 'not-to-be-shown' }, 'backup', '--to', join(folder, 'x'))
  assert.equal(advice.exitCode, 1)
  assert.match(advice.stderr, /Nothing was backed up[\s\S]*pg_dump --format=custom --file=parley\.dump "postgres:/)
  assert.ok(!advice.stderr.includes('not-to-be-shown'))
})

test('files added or erased during verification are not reported as missing', async () => {
  const database = await testDatabase()
  const { db } = database
  const workspace = randomUUID()
  await db.sql`insert into workspaces (id, name, created_at, updated_at) values (${workspace}, 'Acme', now(), now())`
  const stored = new Set<string>(Array.from({ length: 2500 }, () => randomUUID()))
  const [gone = '', lost = ''] = stored
  await nameFiles(db.sql, workspace, [...stored])
  const store: Pick<MediaStore, 'list' | 'description'> = {
    description: 'the store',
    list: async (after, limit) => {
      // Once it has begun to look, which is after it has seen the rows.
      if (after === null) {
        const come: string = randomUUID()
        await nameFiles(db.sql, workspace, [come])
        await db.sql`delete from media where stored_as = ${gone}`
        stored.add(come)
        for (const name of [gone, lost]) stored.delete(name)
      }
      const names = [...stored].sort((a, b) => (storePath(a) < storePath(b) ? -1 : 1))
      const behind = names.filter((name) => after === null || storePath(name) > storePath(after))
      return behind.slice(0, limit).map((name) => ({ name, bytes: 1, storedAt: new Date() }))
    },
  }
  const findings: string[] = []
  const { DATABASE_URL = '', PARLEY_DATABASE_DIRECT_URL, PGPASSWORD } = databaseSettings(database)
  const address = parseDatabaseUrl(PARLEY_DATABASE_DIRECT_URL ?? DATABASE_URL, { PGPASSWORD })
  const named = await withSession(address, 'parley test', (client) =>
    inSnapshot(client, () => verifyFiles(client, db, store as MediaStore, findings)),
  )
  assert.equal(named, 2500)
  assert.deepEqual(findings, ['files: 1 of 2500 referenced files are not in the store'])
  await db.sql`delete from media where workspace_id = ${workspace}`
})

/** Rows of files in a conversation of their own. */
async function nameFiles(sql: Sql, workspaceId: string, names: readonly string[]): Promise<void> {
  const [connection, conversation] = [randomUUID(), randomUUID()]
  await sql`
    insert into connections (
      workspace_id, id, channel, name, number_id, settings, state, state_changed_at, created_at, updated_at
    )
    values (${workspaceId}, ${connection}, 'waba', 'x', ${connection}, '', 'active', now(), now(), now())`
  await sql`
    insert into conversations (
      workspace_id, id, connection_id, channel, contact, index_version, owner_since, status, last_message_at, created_at,
      updated_at
    )
    values (${workspaceId}, ${conversation}, ${connection}, 'waba', '', 1, now(), 'open', now(), now(), now())`
  await sql`
    insert into media (
      workspace_id, id, conversation_id, connection_id, direction, kind, state, details, stored_as, created_at, updated_at
    )
    select ${workspaceId}, gen_random_uuid(), ${conversation}, ${connection}, 'inbound', 'image', 'here', '', name, now(), now()
    from unnest(${names}::uuid[]) as name`
}
