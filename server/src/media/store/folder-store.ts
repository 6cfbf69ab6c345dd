import { randomBytes } from 'node:crypto'
import { type FileHandle, link, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { releaseMemory } from '../../base/bytes/release-memory.ts'
import {
  fileMissing,
  type MediaStore,
  markName,
  nameFromPath,
  type StoredFile,
  StoreError,
  storePath,
} from './store.ts'

/** What is written at once, and read: so much memory for each file that is on its way, used again and again. */
const blockBytes = 131_072
const readBytes = 65_536

/** Keeps files in a folder. It may be shared by several nodes. Nothing is made in it before it is written to. */
export function openFolderStore(root: string): MediaStore {
  const durable = createDurableFolders(root)
  const partialFolder = join(root, 'drafts')
  const translate = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      throw toStoreError(root, error)
    }
  }

  /** Writes beside the files first, so that no half-written file ever goes by its name. */
  const place = async (
    path: string,
    bytes: AsyncIterable<Uint8Array>,
    move: (from: string, to: string) => Promise<void>,
  ): Promise<number> => {
    await translate(() => durable.make(partialFolder))
    const draft = join(partialFolder, `${path.slice(path.lastIndexOf('/') + 1)}.${randomBytes(6).toString('hex')}`)
    try {
      const size = await writeDurably(draft, bytes, translate)
      await translate(async () => {
        const target = join(root, path)
        await durable.make(dirname(target))
        await move(draft, target)
        await syncFolder(dirname(target))
      })
      return size
    } catch (error) {
      durable.forget()
      throw error
    } finally {
      // After a rename there is none.
      await rm(draft, { force: true }).catch(() => undefined)
    }
  }

  return {
    description: `the media folder ${root}`,
    put: async (name, bytes) => {
      const path = storePath(name)
      if (!durable.knows(partialFolder)) await translate(() => requireMark(root))
      return place(path, bytes, rename)
    },
    open: async (name, start = 0, end = null) => {
      const path = join(root, storePath(name))
      try {
        return readPart(await open(path, 'r'), start, end, translate)
      } catch (error) {
        throw codeOf(error) === 'ENOENT' ? fileMissing(name, error) : toStoreError(root, error)
      }
    },
    remove: (name) => {
      const path = join(root, storePath(name))
      // Not synced: what comes back after a power cut has no row, and is swept.
      return translate(() => rm(path, { force: true }))
    },
    list: (after, limit) => translate(() => listFolder(root, after, limit)),
    deletePartialFiles: (before) => translate(() => deleteOldPartialFiles(partialFolder, before)),
    readMark: () => translate(() => ifExists(readFile(join(root, markName), 'utf8'), null)),
    writeMark: async (text) => {
      // A link, unlike a rename, fails when the name is taken.
      const moveUnlessThere = (from: string, to: string) =>
        link(from, to).catch((error) => {
          if (codeOf(error) !== 'EEXIST') throw error
        })
      await place(markName, Readable.from([Buffer.from(text)]), moveUnlessThere)
    },
    close: async () => undefined,
  }
}

/** A folder that has lost its mark is that of a disk which is not mounted: files would be hidden by it later. */
async function requireMark(root: string): Promise<void> {
  if ((await ifExists(stat(join(root, markName)), null)) !== null) return
  throw new StoreError('refused', `The media folder ${root} has no ${markName} any more: is its disk mounted?`)
}

type Translate = <T>(work: () => Promise<T>) => Promise<T>

/**
 * Writes one block while the next is filled. Only what the folder says is translated: what the source of the bytes throws is
 * for whoever gave it.
 */
async function writeDurably(path: string, bytes: AsyncIterable<Uint8Array>, translate: Translate): Promise<number> {
  const file = await translate(() => open(path, 'wx', 0o600))
  let writing: Promise<void> = Promise.resolve()
  let [block, other] = [Buffer.allocUnsafe(blockBytes), Buffer.allocUnsafe(blockBytes)]
  try {
    let [size, filled] = [0, 0]
    const write = async () => {
      // The one before has to be through: its memory is filled next, and places in the file are taken in turn.
      await writing
      const full = block.subarray(0, filled)
      writing = translate(() => writeAll(file, full))
      // Whoever waits for it hears of it, if only at the next block.
      writing.catch(() => {})
      ;[block, other, filled] = [other, block, 0]
    }
    for await (const part of bytes) {
      size += part.length
      for (let at = 0; at < part.length; ) {
        const taken = part.subarray(at, at + blockBytes - filled)
        block.set(taken, filled)
        filled += taken.length
        at += taken.length
        if (filled === blockBytes) await write()
      }
    }
    await write()
    await writing
    await translate(() => file.sync())
    return size
  } finally {
    await writing.catch(() => {})
    releaseMemory(block)
    releaseMemory(other)
    await file.close()
  }
}

/** A disk that fills up may take a part of what it is given before it says so. */
async function writeAll(file: FileHandle, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten
}

async function* readPart(
  file: FileHandle,
  start: number,
  end: number | null,
  translate: Translate,
): AsyncGenerator<Uint8Array> {
  const block = Buffer.allocUnsafe(readBytes)
  try {
    for (let at = start; end === null || at < end; ) {
      const length = end === null ? readBytes : Math.min(readBytes, end - at)
      const position = at
      const { bytesRead } = await translate(() => file.read(block, 0, length, position))
      if (bytesRead === 0) return
      at += bytesRead
      yield block.subarray(0, bytesRead)
    }
  } finally {
    releaseMemory(block)
    await file.close()
  }
}

/** In the order of their paths, hence no folder is read that cannot have any. */
async function listFolder(root: string, after: string | null, limit: number): Promise<StoredFile[]> {
  const from = after === null ? '' : storePath(after)
  const found: StoredFile[] = []
  for (const outer of await foldersIn(root)) {
    if (outer < from.slice(0, 2)) continue
    for (const inner of await foldersIn(join(root, outer))) {
      const folder = `${outer}/${inner}`
      if (folder < from.slice(0, 5)) continue
      const paths = (await entriesOf(join(root, folder))).map(({ name }) => `${folder}/${name}`).sort()
      for (const path of paths) {
        const name = path > from ? nameFromPath(path) : null
        const stats = name === null ? null : await ifExists(stat(join(root, path)), null)
        if (name !== null && stats !== null) found.push({ name, bytes: stats.size, storedAt: stats.mtime })
        if (found.length === limit) return found
      }
    }
  }
  return found
}

async function foldersIn(folder: string): Promise<string[]> {
  const entries = await entriesOf(folder)
  return entries
    .filter((entry) => entry.isDirectory() && /^[0-9a-f]{2}$/.test(entry.name))
    .map(({ name }) => name)
    .sort()
}

const entriesOf = (folder: string) => ifExists(readdir(folder, { withFileTypes: true }), [])

async function deleteOldPartialFiles(partialFolder: string, before: Date): Promise<number> {
  let dropped = 0
  for (const { name } of await entriesOf(partialFolder)) {
    const stats = await ifExists(stat(join(partialFolder, name)), null)
    if (stats === null || stats.mtime >= before) continue
    await rm(join(partialFolder, name), { force: true })
    dropped++
  }
  return dropped
}

/** Makes folders so that they outlive a power cut, and remembers which ones do. */
function createDurableFolders(root: string) {
  const known = new Set<string>()
  return {
    make: async (folder: string): Promise<void> => {
      if (known.has(folder)) return
      await mkdir(folder, { recursive: true, mode: 0o700 })
      // Another process may have made one of them a moment ago, and not yet have synced it.
      for (let at = folder; at.length >= root.length; at = dirname(at)) await syncFolder(dirname(at))
      known.add(folder)
    },
    knows: (folder: string): boolean => known.has(folder),
    /** Something failed: what was there may be gone. */
    forget: () => known.clear(),
  }
}

async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

async function ifExists<T, Otherwise>(look: Promise<T>, otherwise: Otherwise): Promise<T | Otherwise> {
  try {
    return await look
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
    return otherwise
  }
}

const fullCodes = ['ENOSPC', 'EDQUOT', 'EFBIG']
const refusedCodes = ['EROFS', 'EACCES', 'EPERM', 'ENOTDIR']

function toStoreError(root: string, error: unknown): unknown {
  const code = codeOf(error)
  if (fullCodes.includes(code)) {
    return new StoreError('full', `The media folder ${root} is full (${code}): make room on its disk`, error)
  }
  if (refusedCodes.includes(code)) {
    const words = `The media folder ${root} may not be read or written (${code}): let the user of the service write there`
    return new StoreError('refused', words, error)
  }
  // Whatever else a system says of it: a disk that fails (EIO), a share that has gone (ESTALE), no more files (EMFILE).
  if (error instanceof Error && 'syscall' in error) {
    const words = `The media folder ${root} cannot be read or written (${code}): look at its disk`
    return new StoreError('unreachable', words, error)
  }
  return error
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
