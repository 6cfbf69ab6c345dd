import { copyFile, type FileHandle, open, stat, truncate } from 'node:fs/promises'

const maxBytes = 4 * 1024 * 1024

/** Opens the server's log for appending, readable by its owner alone. */
export async function openServerLog(path: string): Promise<FileHandle> {
  await keepLogSmall(path)
  return open(path, 'a', 0o600)
}

/** Keeps one earlier log beside the current one. The server appends, so the file can be emptied under it. */
export async function keepLogSmall(path: string): Promise<void> {
  const size = await sizeOf(path)
  if (size <= maxBytes) return
  await copyFile(path, `${path}.1`)
  await truncate(path)
}

export async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0
}

/** What was logged from this byte on, at most its last 2,000 characters. */
export async function logSince(path: string, start: number): Promise<string> {
  const log = await open(path)
  try {
    const { size } = await log.stat()
    const from = Math.max(start, size - 2000)
    if (size <= from) return ''
    const { buffer } = await log.read({ buffer: Buffer.alloc(size - from), position: from })
    return buffer.toString('utf8')
  } finally {
    await log.close()
  }
}
