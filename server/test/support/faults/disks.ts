import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { atEnd } from '../file-end.ts'
import { newFolder } from '../folder.ts'

/** A disk of this machine that may be spoiled. */
export interface Disk {
  /** Where it is mounted. */
  folder: string
  mount(): void
  /** At once, whoever uses it. */
  unmount(): void
}

/** A disk in memory, which forgets all when it is unmounted; null where this user may mount nothing. */
export async function memoryDisk(megabytes: number): Promise<Disk | null> {
  return mounted(['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=755`, 'tmpfs'])
}

/** A disk in a file, which keeps what was synced; null where this user may mount nothing, or there is no ext4. */
export async function diskInFile(megabytes: number): Promise<Disk | null> {
  const image = join(await newFolder(), 'disk')
  await writeFile(image, '')
  await truncate(image, megabytes * 1_048_576)
  if (spawnSync('mkfs.ext4', ['-q', image], { env: { PATH: `${process.env.PATH}:/usr/sbin` } }).status !== 0)
    return null
  return mounted(['-o', 'loop', image])
}

async function mounted(what: readonly string[]): Promise<Disk | null> {
  const folder = await newFolder()
  const tryToMount = () => spawnSync('mount', [...what, folder]).status === 0
  if (!tryToMount()) return null
  atEnd(async () => {
    spawnSync('umount', ['-l', folder])
  })
  return {
    folder,
    mount: () => {
      if (!tryToMount()) throw new Error(`${folder} is not mounted again`)
    },
    unmount: () => execFileSync('umount', ['-l', folder]),
  }
}

/**
 * From now on everything fails there (EIO) until it is mounted anew, and what was not synced is lost: as a disk that dies, or
 * loses its power. For a disk in a file.
 */
export function fail({ folder }: Disk): void {
  // EXT4_IOC_SHUTDOWN, without a last look at the journal.
  const script =
    'sysopen(my $disk, shift, 0) or die $!; my $how = pack("L", 2); ioctl($disk, 0x8004587d, $how) or die $!'
  execFileSync('perl', ['-e', script, folder])
}

/** A process and those that it has started fail each write beyond the first block of a file, for good, and so do those to come. */
export function failWrites(pid: number): void {
  const results = familyOf(pid).map((one) => {
    // Nobody else's limits may be changed, whoever asks.
    const { uid, gid } = statSync(`/proc/${one}`)
    return spawnSync('prlimit', ['--pid', String(one), '--fsize=8192'], { uid, gid }).status
  })
  if (results[0] !== 0) throw new Error(`The limits of ${pid} stay as they are`)
}

/** Whether this machine knows such limits. */
export const canFailWrites = (): boolean => spawnSync('prlimit', ['--version']).status === 0

function familyOf(pid: number): number[] {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const parent = parentOf(name)
    if (parent !== null) parents.set(Number(name), parent)
  }
  const childrenOf = (of: number): number[] => [...parents].flatMap(([child, parent]) => (parent === of ? [child] : []))
  const withChildren = (of: number): number[] => [of, ...childrenOf(of).flatMap(withChildren)]
  return withChildren(pid)
}

/** Null once it is gone. */
function parentOf(pid: string): number | null {
  try {
    return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  } catch {
    return null
  }
}
