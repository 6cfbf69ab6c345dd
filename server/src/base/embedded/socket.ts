import { createHash } from 'node:crypto'
import { lstat, readlink, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// Linux allows 107 bytes and macOS 103 for the path of a socket; its name takes 14 of them.
const maxFolderBytes = 103 - '/.s.PGSQL.5432'.length

/** A folder by which clients reach the server's socket: the cluster's own, or a link to it when its path is too long. */
export async function socketFolderOf(clusterFolder: string): Promise<string> {
  if (Buffer.byteLength(clusterFolder) <= maxFolderBytes) return clusterFolder

  const name = `parley-${createHash('sha256').update(clusterFolder).digest('hex').slice(0, 16)}`
  const link = join(Buffer.byteLength(tmpdir()) < 60 ? tmpdir() : '/tmp', name)
  await symlink(clusterFolder, link).catch(() => undefined)
  // Anyone may write to /tmp: a link that is not ours could lead to somebody else's server.
  const { uid } = await lstat(link)
  if (uid === (process.getuid?.() ?? uid) && (await readlink(link)) === clusterFolder) return link
  throw new Error(`${link} is not a link to ${clusterFolder}. Remove it, or set PARLEY_DATA_DIR to a shorter path.`)
}
