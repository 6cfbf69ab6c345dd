import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { shiftedClock, systemClock } from '../../../src/base/clock.ts'
import { knownFiles } from '../../../src/inbox/media/fetch-queries.ts'
import { openMedia } from '../../../src/inbox/media/open-media.ts'
import { openFile } from '../../../src/media/sealed-file.ts'
import type { MediaStore } from '../../../src/media/store/store.ts'
import { sweepStore } from '../../../src/media/sweep.ts'
import { type MediaWorld, mediaWorld } from '../../support/inbox/media-world.ts'
import { stores } from '../../support/media/stores.ts'

test('on S3 a file is fetched, read in part, and swept once no message names it', async () => {
  const w = await mediaWorld()
  const { store } = (await stores.S3?.()) ?? assert.fail()
  const bytes = randomBytes(900_000)
  const [kept, dropped] = [await w.coming({ bytes }), await w.coming({ bytes: randomBytes(100) })]
  await w.fetcher({ store }).drain()
  const [file, other] = [await w.row(kept), await w.row(dropped)]
  assert.deepEqual([file.state, other.state], ['here', 'here'])
  assert.ok((await read(w, store, kept, 70_000, 500_001)).equals(bytes.subarray(70_000, 500_001)))
  assert.deepEqual(await w.stored(), [], 'nothing is in the folder')

  await w.db.sql`delete from media where workspace_id = ${w.workspaceId} and id = ${dropped}`
  const clock = shiftedClock(systemClock)
  const known = (names: string[]) => knownFiles(w.db.sql, names)
  assert.equal((await sweepStore({ store, clock, known })).removed, 0, 'what is young stays')
  clock.shiftTo(2 * 86_400_000)
  assert.equal((await sweepStore({ store, clock, known })).removed, 1)
  assert.deepEqual(
    (await store.list(null, 10)).map(({ name }) => name),
    [file.storedAs],
  )
  assert.ok((await read(w, store, kept, 0, bytes.length)).equals(bytes))
})

async function read(w: MediaWorld, store: MediaStore, id: string, start: number, end: number): Promise<Buffer> {
  const asker = { workspaceId: w.workspaceId, actorId: w.connectionId }
  const { secret } = await openMedia(w, asker, id, 'file')
  const pieces: Buffer[] = []
  for await (const piece of openFile(secret, { start, end }, (from, to) => store.open(secret.id, from, to)))
    pieces.push(Buffer.from(piece))
  return Buffer.concat(pieces)
}
