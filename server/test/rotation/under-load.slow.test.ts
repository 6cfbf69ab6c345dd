import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { buildApp } from '../../src/app/app.ts'
import { openVault } from '../../src/base/sealing/vault.ts'
import { testDatabase } from '../support/database.ts'
import { atEnd } from '../support/file-end.ts'
import { type InboxWorld, inboxWorld } from '../support/inbox/inbox-world.ts'
import { askRotation, oldRows, runningRotations } from '../support/rotation/rotating.ts'
import type { RotatingTask } from '../support/rotation/rotating-program.ts'
import { type Client, type Node, rotationClient } from '../support/rotation/rotation-clients.ts'
import { callerOf } from '../support/world.ts'

const clients = 8
/** `ROTATION_SEARCHES=10000` takes minutes. */
const wantedSearches = Number(process.env.ROTATION_SEARCHES ?? 200)
const kills = wantedSearches >= 10_000 ? 20 : 2
const program = fileURLToPath(new URL('../support/rotation/rotating-program.ts', import.meta.url))

test(`${clients} clients of two nodes miss nothing while all keys are rotated by a process that is killed`, {
  timeout: 1_200_000,
}, async (t) => {
  const w = await inboxWorld({ key: { scopes: ['leads.read', 'leads.write', 'inbox.read', 'inbox.write'] } })
  for (let n = 0; n < 300; n++) await w.lead({ firstName: `Still ${n}`, notes: 'note', phone: `4930${1_000_000 + n}` })
  const before = await still(w)
  const crowd = await startClients(w)
  let killed = 0
  let version = 1
  while (version === 1 || searchesOf(crowd) < wantedSearches || killed < kills) {
    version++
    for (const purpose of ['index', 'data'] as const) {
      await askRotation(w, { purpose, workspaceId: w.workspaceId })
      killed += await rotateUnderLoad(w, crowd, Math.max(0, kills - killed))
      assert.deepEqual(await settled(w, crowd, () => oldRows(w.db, w.workspaceId, purpose, version)), [])
    }
  }
  await crowd.end()
  assert.deepEqual(await still(w), before)
  const sum = (count: (client: Client) => number) => crowd.clients.reduce((total, client) => total + count(client), 0)
  t.diagnostic(
    `${version - 1} rotations of each key, ${killed} kills; right answers: ${sum((c) => c.searches)} ` +
      `searches, ${sum((c) => c.lookups)} look-ups, ${sum((c) => c.writes)} writes`,
  )
})

interface Crowd {
  clients: Client[]
  /** Fails as soon as one client saw something wrong. */
  check(): void
  end(): Promise<void>
}

const searchesOf = ({ clients }: Crowd) => clients.reduce((sum, { searches }) => sum + searches, 0)

async function startClients(w: InboxWorld): Promise<Crowd> {
  const nodes: Node[] = [{ call: w.call, receiveDeps: w.receiveDeps }, await secondNode(w)]
  const all = Array.from({ length: clients }, (_, number) => rotationClient(w, nodes, number))
  const failures: unknown[] = []
  const runs = all.map((client) => client.run().catch((error: unknown) => failures.push(error)))
  const check = () => {
    if (failures.length > 0) throw failures[0]
  }
  return {
    clients: all,
    check,
    end: async () => {
      for (const client of all) client.stop()
      await Promise.all(runs)
      check()
    },
  }
}

/** A node whose keys are loaded at other times than those of the first one. */
async function secondNode(w: InboxWorld): Promise<Node> {
  const vault = openVault(w.db, { current: Buffer.alloc(32, 7) }, w.clock)
  const app = await buildApp({ ...w, vault })
  await app.ready()
  atEnd(() => app.close())
  return { call: callerOf(app, w.key), receiveDeps: { ...w.receiveDeps, vault } }
}

/** Lets time pass as the service takes it to pass: no request uses keys for longer than 20 s after they were loaded. */
async function settled<T>(w: InboxWorld, crowd: Crowd, work: () => T): Promise<T> {
  for (let pause = 0; pause < 3; pause++) {
    w.clock.advance(10_000)
    await Promise.all(crowd.clients.map((client) => client.idle()))
  }
  crowd.check()
  return work()
}

/** Rotates to the end by processes of its own; kills some of them. Answers how many. */
async function rotateUnderLoad(w: InboxWorld, crowd: Crowd, maxKills: number): Promise<number> {
  let killed = 0
  while ((await runningRotations(w.db)) > 0) {
    const dieAfter = killed < maxKills ? 1 + Math.floor(Math.random() * 4) : Number.POSITIVE_INFINITY
    if (await workUntil(w, dieAfter)) killed++
    await settled(w, crowd, () => {})
  }
  return killed
}

/** Answers whether the process was killed before it had done all that was due. */
async function workUntil(w: InboxWorld, dieAfter: number): Promise<boolean> {
  const { options } = await testDatabase()
  const task: RotatingTask = { database: options, now: w.clock.now().toISOString() }
  const child = spawn(process.execPath, [program, JSON.stringify(task)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exit = once(child, 'exit')
  let steps = 0
  createInterface(child.stdout).on('line', () => {
    if (++steps === dieAfter) child.kill('SIGKILL')
  })
  const [code, signal] = await exit
  assert.ok(code === 0 || signal === 'SIGKILL')
  return signal === 'SIGKILL'
}

/** Of the leads that no client touches: when they changed, and what was told of them. */
async function still({ db, workspaceId }: InboxWorld): Promise<unknown[]> {
  return [
    ...(await db.sql`
      select l.id, l.updated_at, count(e.id) as events
      from leads l
      left join events e on e.workspace_id = l.workspace_id and e.subject_id = l.id
      where l.workspace_id = ${workspaceId}
        and l.created_at <= (select min(created_at) from leads where workspace_id = ${workspaceId})
        and l.notes is not null
      group by l.id, l.updated_at
      order by l.id`),
  ]
}
