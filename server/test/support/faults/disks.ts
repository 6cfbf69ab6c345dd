import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { atEnd } from '../file-end.ts'
import { newFolder } from '../folder.ts'

/** A disk of this machine that may be spoiled. */
export type Disk = NonNullable<Awaited<ReturnType<typeof mounted>>>

/** A disk in memory, which forgets all when it is unmounted; null where this user may mount nothing. */
export const memoryDisk = (megabytes: number) => mounted(['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=755`, 'tmpfs'])

/** A disk in a file, which keeps what was synced; null where this user may mount nothing, or there is no ext4. */
export async function diskInFile(megabytes: number): Promise<Disk | null> {
  const image = join(await newFolder(), 'disk')
  await writeFile(image, '')
  await truncate(image, megabytes * 1_048_576)
  const { status } = spawnSync('mkfs.ext4', ['-q', image], { env: { PATH: `${process.env.PATH}:/usr/sbin` } })
  return status === 0 ? mounted(['-o', 'loop', image]) : null
}

async function mounted(what: readonly string[]) {
  const folder = await newFolder()
  if (spawnSync('mount', [...what, folder]).status !== 0) return null
  atEnd(async () => void spawnSync('umount', ['-l', folder]))
  return {
    folder,
    mount: () => void execFileSync('mount', [...what, folder]),
    /** At once, whoever uses it. */
    unmount: () => void execFileSync('umount', ['-l', folder]),
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
  const results = withChildren(String(pid)).map((one) => {
    // Nobody else's limits may be changed, whoever asks.
    const { uid, gid } = statSync(`/proc/${one}`)
    return spawnSync('prlimit', ['--pid', one, '--fsize=8192'], { uid, gid }).status
  })
  if (results[0] !== 0) throw new Error(`The limits of ${pid} stay as they are`)
}

/** Whether this machine knows such limits. */
export const canFailWrites = (): boolean => spawnSync('prlimit', ['--version']).status === 0

function withChildren(pid: string): string[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
  return [pid, ...children.flatMap(withChildren)]
}
