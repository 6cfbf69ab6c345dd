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

/** Buffer sizes for writing and reading; each open file reuses its buffers. */
const blockBytes = 131_072
const readBytes = 65_536

/** Opens a store in a folder, which several nodes can share. Creates nothing before the first write. */
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

  /** Writes to a separate folder first, so that a partial file never has a final name. */
  const writeFile = async (
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
      // After a rename it no longer exists.
      await rm(draft, { force: true }).catch(() => undefined)
    }
  }

  return {
    description: `the media folder ${root}`,
    put: async (name, bytes) => {
      const path = storePath(name)
      if (!durable.knows(partialFolder)) await translate(() => requireMark(root))
      return writeFile(path, bytes, rename)
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
      // Not synced: a file that reappears after a power failure has no row and is swept.
      return translate(() => rm(path, { force: true }))
    },
    list: (after, limit) => translate(() => listFolder(root, after, limit)),
    deletePartialFiles: (before) => translate(() => deleteOldPartialFiles(partialFolder, before)),
    readMark: () => translate(() => ifExists(readFile(join(root, markName), 'utf8'), null)),
    writeMark: async (text) => {
      // Unlike a rename, a link fails if the name exists.
      const linkIfAbsent = (from: string, to: string) =>
        link(from, to).catch((error) => {
          if (codeOf(error) !== 'EEXIST') throw error
        })
      await writeFile(markName, Readable.from([Buffer.from(text)]), linkIfAbsent)
    },
    close: async () => undefined,
  }
}

/** If the mark is missing, the disk is probably not mounted: new files would later be hidden by it. */
async function requireMark(root: string): Promise<void> {
  if ((await ifExists(stat(join(root, markName)), null)) !== null) return
  throw new StoreError(
    'refused',
    `The media folder ${root} no longer contains ${markName}: check that its disk is mounted`,
  )
}

type Translate = <T>(work: () => Promise<T>) => Promise<T>

/** Writes one block while filling the next. Translates file system errors; errors of the source pass unchanged. */
async function writeDurably(path: string, bytes: AsyncIterable<Uint8Array>, translate: Translate): Promise<number> {
  const file = await translate(() => open(path, 'wx', 0o600))
  let writing: Promise<void> = Promise.resolve()
  let [block, other] = [Buffer.allocUnsafe(blockBytes), Buffer.allocUnsafe(blockBytes)]
  try {
    let [size, filled] = [0, 0]
    const write = async () => {
      // Wait for the previous write: its buffer is filled next, and writes use the file position.
      await writing
      const full = block.subarray(0, filled)
      writing = translate(() => writeAll(file, full))
      // The error is thrown at the next `await writing`.
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

/** A disk that becomes full may write only part of the data before it reports an error. */
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

/** Lists in path order, skipping folders before `after`. */
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

/** Creates folders durably and remembers which ones it created. */
function createDurableFolders(root: string) {
  const known = new Set<string>()
  return {
    make: async (folder: string): Promise<void> => {
      if (known.has(folder)) return
      await mkdir(folder, { recursive: true, mode: 0o700 })
      // Another process may just have created one of them without syncing it yet.
      for (let at = folder; at.length >= root.length; at = dirname(at)) await syncFolder(dirname(at))
      known.add(folder)
    },
    knows: (folder: string): boolean => known.has(folder),
    /** After an error, the folders may be gone. */
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

async function ifExists<T, Otherwise>(operation: Promise<T>, otherwise: Otherwise): Promise<T | Otherwise> {
  try {
    return await operation
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
    return new StoreError('full', `The media folder ${root} is full (${code}): free up disk space`, error)
  }
  if (refusedCodes.includes(code)) {
    const words = `The media folder ${root} cannot be accessed (${code}): allow the service user to read and write it`
    return new StoreError('refused', words, error)
  }
  // Other system errors: a failing disk (EIO), a stale network share (ESTALE), too many open files (EMFILE).
  if (error instanceof Error && 'syscall' in error) {
    const words = `The media folder ${root} cannot be read or written (${code}): check its disk`
    return new StoreError('unreachable', words, error)
  }
  return error
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
