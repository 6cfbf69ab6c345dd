import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmod, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { canFailWrites, failWrites, memoryDisk } from '../support/faults/disks.ts'
import { newFolder } from '../support/folder.ts'
import { databasePidOf, freePort, newWorkspace, startService } from '../support/program/service.ts'
import { until } from '../support/until.ts'

const rounds = Number(process.env.STORAGE_ROUNDS ?? 1)
const writerCount = 4
/** Maximum time to any answer. */
const maxAnswerMs = 20_000

interface DiskFault {
  what: string
  /** Creates the place of the data folder; null if this user cannot create it. */
  place(): Promise<string | null>
  /** Number of refused writes before the fault ends. */
  refusals: number
  begin(folder: string): Promise<unknown>
  end(folder: string): Promise<unknown>
  /** Takes a minute or more until the database has recovered: only run as a fault test. */
  isLong?: boolean
}

const diskFaults: DiskFault[] = [
  {
    what: 'is full',
    // Slightly larger than a new database.
    place: async () => (await memoryDisk(160))?.folder ?? null,
    refusals: 10,
    begin: async (folder) => spawnSync('sh', ['-c', `cat /dev/zero > ${ballastIn(folder)}`]),
    end: (folder) => rm(ballastIn(folder)),
  },
  {
    what: 'may no longer be written to',
    place: newFolder,
    refusals: 10,
    begin: (folder) => chmod(logOf(folder), 0o500),
    end: (folder) => chmod(logOf(folder), 0o700),
  },
  {
    what: 'fails a write of the database',
    place: async () => (canFailWrites() ? newFolder() : null),
    // The database's next process can write again, so few writes are refused.
    refusals: 1,
    begin: async (folder) => failWrites(await databasePidOf(folder)),
    end: async () => {},
    isLong: true,
  },
]

const ballastIn = (folder: string) => join(folder, 'ballast')
const logOf = (folder: string) => join(folder, 'postgres', 'pg_wal')

for (const { what, place, refusals, begin, end } of diskFaults.filter(
  ({ isLong }) => !isLong || process.env.STORAGE_ROUNDS !== undefined,
)) {
  test(`a data folder that ${what}: writes get a retryable error, nothing acknowledged is lost, and the service recovers`, async (t) => {
    const folder = await place()
    if (folder === null) return t.skip('this user can have no such place')
    const service = await startService({ folder, port: await freePort() })
    const { key } = await newWorkspace(service.url)
    const writing = startWriting(service.url, key)
    for (let round = 0; round < rounds; round++) {
      await writing.more('taken', 10)
      await begin(folder)
      await writing.more('refused', refusals)
      await end(folder)
      await writing.more('taken', 10)
    }
    const { acknowledged, counts, faults, slowestMs } = await writing.stop()
    recordAnswer(t, `${JSON.stringify(counts)}, the slowest after ${Math.round(slowestMs)} ms`)
    assert.deepEqual(faults, [])
    const lost: string[] = []
    for (const id of acknowledged) if ((await ask(service.url, key, 'GET', `/${id}`)).status !== 200) lost.push(id)
    assert.deepEqual(lost, [])
    assert.equal(service.count('request failed'), 0)
    service.kill('SIGTERM')
    assert.equal(await service.exited, 0)
    t.diagnostic(`${rounds} disk faults`)
  })
}

const recordAnswer = (t: TestContext, words: string) => t.diagnostic(words)

type Kind = 'taken' | 'refused'

/** Writes leads with long notes, so that the database soon needs more space. */
function startWriting(url: string, key: string) {
  const counts: Record<string, number> = {}
  const faults: string[] = []
  const acknowledged: string[] = []
  const seen: Record<Kind, number> = { taken: 0, refused: 0 }
  let slowestMs = 0
  let isOver = false
  const write = async (writer: number) => {
    for (let n = 0; !isOver; n++) {
      const notes = `${writer} ${n} `.padEnd(10_000, 'note ')
      const { status, text, ms, id } = await ask(url, key, 'POST', '', { firstName: 'Kim', notes })
      slowestMs = Math.max(slowestMs, ms)
      counts[status] = (counts[status] ?? 0) + 1
      if (status === 201) acknowledged.push(id)
      seen[status === 201 ? 'taken' : 'refused']++
      if ((status !== 201 && status !== 503) || ms > maxAnswerMs)
        faults.push(`${status} after ${Math.round(ms)} ms: ${text}`)
      if (status !== 201) await wait(50)
    }
  }
  const writers = Array.from({ length: writerCount }, (_, writer) => write(writer))
  return {
    more: (kind: Kind, count: number) => {
      const wanted = seen[kind] + count
      return until(() => seen[kind] >= wanted, `${count} ${kind}, of ${JSON.stringify(counts)}`, 90_000)
    },
    stop: async () => {
      isOver = true
      await Promise.all(writers)
      return { acknowledged, counts, faults, slowestMs }
    },
  }
}

async function ask(url: string, key: string, method: string, path: string, body?: object) {
  const startedAt = performance.now()
  const reply = await fetch(`${url}/api/v1/leads${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await reply.text()
  const id = reply.status === 201 ? JSON.parse(text).data.id : ''
  return { status: reply.status, text: text.slice(0, 300), ms: performance.now() - startedAt, id }
}
