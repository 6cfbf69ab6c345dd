import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openDb } from '../../../src/base/db.ts'
import { startEmbeddedPostgres } from '../../../src/base/embedded/embedded-postgres.ts'
import { newFolder } from '../../support/folder.ts'
import { Acknowledgements, killRounds, type Victim } from '../../support/program/kill-rounds.ts'
import { startProgram } from '../../support/program/program.ts'

const writingProgram = fileURLToPath(new URL('./writing-program.ts', import.meta.url))
const rounds = Number(process.env.KILL_ROUNDS ?? 15)

test('no acknowledged write is lost when the program, its database or both are killed', async (t) => {
  const folder = await newFolder()
  const acknowledged = new Acknowledgements()
  const { victim, outagesMs } = await killRounds({
    rounds,
    start: () => startWriting(folder, acknowledged),
    acknowledged: (count) => acknowledged.more(count),
  })
  await victim.killProgram()

  const server = await startEmbeddedPostgres({ folder, log: () => {} })
  const db = openDb(server)
  const lost = await db.sql`
    select id
    from unnest(${acknowledged.ids}::uuid[]) as id
    where not exists (select 1 from written w where w.id = id)`
  const halves = await db.sql`
    select id
    from written
    full join recorded using (id)
    where written.id is null or recorded.id is null`
  await db.close()
  await server.stop()
  assert.ok(acknowledged.ids.length > rounds * 5)
  assert.deepEqual([lost.length, halves.length], [0, 0])

  outagesMs.sort((a, b) => a - b)
  const at = (share: number) => Math.round(outagesMs[Math.floor(outagesMs.length * share)] ?? 0)
  t.diagnostic(`${acknowledged.ids.length} acknowledged; outage median ${at(0.5)} ms, p95 ${at(0.95)} ms`)
})

test('a first start that is killed at any moment is repaired by the next one', async () => {
  for (let round = 0; round < 8; round++) {
    const folder = await newFolder()
    const program = startProgram([writingProgram, folder])
    // From before the cluster exists until after the first writes; the test varies the moment.
    await wait(100 + Math.random() * 900)
    program.kill()
    await program.exited
    const server = await startEmbeddedPostgres({ folder, log: () => {} })
    const db = openDb(server)
    const [row] = await db.sql`select current_database() as name`
    assert.equal(row?.name, 'parley')
    await db.close()
    await server.stop()
  }
})

async function startWriting(folder: string, acknowledged: Acknowledgements): Promise<Victim> {
  let databasePid = 0
  const onLine = (line: string) => {
    const [word, rest = ''] = line.split(' ', 2)
    if (word === 'ack') acknowledged.add(rest)
    if (word === 'database') databasePid = Number(rest)
  }
  const program = startProgram([writingProgram, folder], { onLine })
  await program.waitForLine('database')
  return {
    databasePid: () => databasePid,
    databaseBack: async (killedPid) => {
      while (databasePid === killedPid) await program.waitForLine('database')
    },
    killProgram: async () => {
      program.kill()
      await program.exited
    },
  }
}
