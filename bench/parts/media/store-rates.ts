import { randomBytes, randomUUID } from 'node:crypto'
import { copyFile, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { releaseMemory } from '../../../server/src/base/bytes/release-memory.ts'
import { decryptFile, encryptFile, type FileKey } from '../../../server/src/media/encrypted-file.ts'
import { openFolderStore } from '../../../server/src/media/store/folder-store.ts'
import type { MediaStore } from '../../../server/src/media/store/store.ts'
import { median, spreadCell } from '../../figures.ts'

const blockBytes = 131_072
const rangeBytes = 1_000_000
const rangesEach = 20

export interface StoreRates {
  what: string
  /** Megabytes per second, by round. */
  product: number[]
  baseline: number[]
}

/**
 * Prints how fast the folder store writes and reads encrypted files, compared with a plain synced copy and a plain
 * read. Uses the folder of temporary files: `TMPDIR` selects the disk.
 */
export async function measureStore(rounds: number, megabytes: number): Promise<StoreRates[]> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-bench-media-'))
  const bytes = megabytes * 1_000_000
  try {
    const source = join(folder, 'source')
    await makeFile(source, bytes)
    const store = openFolderStore(join(folder, 'media'))
    await store.writeMark('bench')
    const rates = ['a file is written', 'all of it is read', '1 MB of it is read'].map(
      (what): StoreRates => ({ what, product: [], baseline: [] }),
    )
    // The first round is the warm-up.
    for (let round = 0; round <= rounds; round++) {
      const measured = await measureRound(store, source, bytes, round % 2 === 0)
      if (round === 0) continue
      for (const [n, { product, baseline }] of measured.entries()) {
        rates[n]?.product.push(product)
        rates[n]?.baseline.push(baseline)
      }
    }
    print(rates, megabytes)
    return rates
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

type Pair = { product: number; baseline: number }

async function measureRound(store: MediaStore, source: string, bytes: number, isFirst: boolean): Promise<Pair[]> {
  const copy = `${source}-copy`
  let secret: FileKey | undefined
  const written = await inTurn(
    isFirst,
    () =>
      rateOf(bytes, async () => {
        secret = await put(store, source, bytes)
      }),
    () => rateOf(bytes, () => copyDurably(source, copy)),
  )
  if (secret === undefined) throw new Error('Nothing was written')
  const { id } = secret
  const fileKey = secret
  const starts = Array.from({ length: rangesEach }, (_, n) => Math.floor((n * (bytes - rangeBytes)) / rangesEach))
  const whole = await inTurn(
    isFirst,
    () => rateOf(bytes, () => readDecrypted(store, fileKey, 0, bytes)),
    () => rateOf(bytes, () => readPlain(copy, 0, bytes)),
  )
  const each = async (read: (start: number) => Promise<void>) => {
    for (const start of starts) await read(start)
  }
  const ranges = await inTurn(
    isFirst,
    () =>
      rateOf(rangesEach * rangeBytes, () => each((start) => readDecrypted(store, fileKey, start, start + rangeBytes))),
    () => rateOf(rangesEach * rangeBytes, () => each((start) => readPlain(copy, start, start + rangeBytes))),
  )
  await store.remove(id)
  await rm(copy)
  return [written, whole, ranges]
}

async function inTurn(
  isFirst: boolean,
  product: () => Promise<number>,
  baseline: () => Promise<number>,
): Promise<Pair> {
  if (isFirst) return { product: await product(), baseline: await baseline() }
  const before = await baseline()
  return { product: await product(), baseline: before }
}

async function rateOf(bytes: number, work: () => Promise<void>): Promise<number> {
  const startedMs = performance.now()
  await work()
  return bytes / 1000 / (performance.now() - startedMs)
}

async function put(store: MediaStore, source: string, bytes: number): Promise<FileKey> {
  const id = randomUUID()
  const { key, stored } = encryptFile(id, blocksOf(source, 0, bytes))
  await store.put(id, stored)
  return { id, key, bytes }
}

async function readDecrypted(store: MediaStore, secret: FileKey, start: number, end: number): Promise<void> {
  let count = 0
  for await (const piece of decryptFile(secret, { start, end }, (from, to) => store.open(secret.id, from, to))) {
    count += piece.length
    releaseMemory(piece)
  }
  if (count !== end - start) throw new Error(`${count} bytes were read`)
}

async function readPlain(path: string, start: number, end: number): Promise<void> {
  for await (const _block of blocksOf(path, start, end));
}

/** Reads one block ahead, since data from a network would already be in memory. */
async function* blocksOf(path: string, start: number, end: number): AsyncGenerator<Uint8Array> {
  const file = await open(path, 'r')
  try {
    let [block, other] = [Buffer.allocUnsafe(blockBytes), Buffer.allocUnsafe(blockBytes)]
    const read = (into: Buffer, at: number) => file.read(into, 0, Math.min(blockBytes, end - at), at)
    let next = read(block, start)
    for (let at = start; at < end; ) {
      const { bytesRead } = await next
      at += bytesRead
      const full = block.subarray(0, bytesRead)
      ;[block, other] = [other, block]
      if (at < end) next = read(block, at)
      yield full
    }
  } finally {
    await file.close()
  }
}

async function copyDurably(from: string, to: string): Promise<void> {
  await copyFile(from, to)
  const file = await open(to, 'r+')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

async function makeFile(path: string, bytes: number): Promise<void> {
  const file = await open(path, 'w')
  try {
    for (let at = 0; at < bytes; at += rangeBytes) await file.write(randomBytes(Math.min(rangeBytes, bytes - at)))
    await file.sync()
  } finally {
    await file.close()
  }
}

function print(rates: StoreRates[], megabytes: number): void {
  console.log(`\n| encrypted files of ${megabytes} MB in a folder | MB/s | plain | ratio |\n|---|---:|---:|---:|`)
  for (const { what, product, baseline } of rates) {
    const ratios = product.map((rate, n) => rate / (baseline[n] ?? Number.NaN))
    console.log(`| ${what} | ${median(product).toFixed(0)} | ${median(baseline).toFixed(0)} | ${spreadCell(ratios)} |`)
  }
}
