import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { buildWebIfNeeded } from '../../../scripts/build-web.ts'
import { type Db, openDb } from '../../../server/src/base/db.ts'
import { migrate } from '../../../server/src/base/migrate.ts'
import type { Child, Start } from '../../child.ts'
import type { Database } from '../../database-address.ts'
import { type BurstWorkspace, seedBurst } from '../burst/seed-burst.ts'
import { type ServeProcess, startServe } from '../burst/serve.ts'
import { type PictureBurst, printBursts, sendPictures } from './picture-burst.ts'
import { measureStore, type StoreRates } from './store-rates.ts'
import { printVisible, type VisibleTimes, watchPictures } from './visible.ts'

export interface MediaCourse {
  db: Db
  database: Database
  /** Database process, for its CPU time. */
  postgres: { readonly pid: number }
  start: Start
  rounds: number
  isShort: boolean
  /** Part of the names `store`, `burst` and `visible` to select. */
  only: string
}

export interface MediaFigures {
  store: StoreRates[]
  bursts: PictureBurst[]
  visible: VisibleTimes[]
}

const root = resolve(import.meta.dirname, '../../..')
const firstPort = 20_000 + (process.pid % 20_000)

/**
 * Prints the speed of the folder store, the time and resources until the pictures of a burst are stored, and the time
 * until a large picture is visible in an open browser. Uses the folder of temporary files: `TMPDIR` selects the disk.
 */
export async function runMedia(course: MediaCourse): Promise<MediaFigures> {
  const { start, rounds, isShort, only } = course
  const wants = (what: string) => what.includes(only)
  const figures: MediaFigures = { store: [], bursts: [], visible: [] }
  if (wants('store')) figures.store = await measureStore(rounds, isShort ? 5 : 100)
  const platform = await start('parts/media/picture-platform.ts', {})
  const folder = await mkdtemp(join(tmpdir(), 'parley-media-baseline-'))
  const baseline = await start('baselines/media-baseline.ts', { PLATFORM_PORT: String(platform.port), FOLDER: folder })
  const size = isShort ? { pictures: 10, quietMs: 200 } : { pictures: 1_000, quietMs: 5_000 }
  try {
    for (let round = 0; round < rounds && wants('burst'); round++) {
      await onOwnServer(course, platform, async (served, db, place) => {
        figures.bursts.push(await sendPictures({ db, place, served, baseline, postgres: course.postgres, ...size }))
      })
    }
    if (wants('burst')) printBursts(figures.bursts)
    // The app is not built in the short form.
    if (isShort || !wants('visible')) return figures
    await buildWebIfNeeded()
    for (let round = 0; round < rounds; round++) {
      await onOwnServer(course, platform, async ({ port }, _db, place) => {
        figures.visible.push(await watchPictures({ place, port, baseline }))
      })
    }
    printVisible(figures.visible)
    return figures
  } finally {
    await baseline.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

let servers = 0

/** Runs `work` on a database server of its own. */
async function onOwnServer(
  { db: server, database: given }: MediaCourse,
  platform: Child,
  work: (served: ServeProcess, db: Db, place: BurstWorkspace) => Promise<void>,
): Promise<void> {
  const port = firstPort + servers++
  const name = `media_${port}_${Date.now()}`
  await server.sql.unsafe(`create database ${name}`, [])
  const database = { ...given, database: name }
  const db = openDb(database)
  let served: ServeProcess | undefined
  try {
    await migrate(db)
    const place = await seedBurst(db, platform.port)
    served = await startServe(root, database, port)
    await work(served, db, place)
  } finally {
    await served?.stop()
    await db.close()
    await server.sql.unsafe(`drop database ${name} with (force)`, [])
  }
}
