import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { atEnd } from '../file-lifecycle.ts'
import { newFolder } from '../folder.ts'

/** Disk of this machine that tests can break. */
export type Disk = NonNullable<Awaited<ReturnType<typeof mounted>>>

/** Mounts an in-memory disk, which is lost when unmounted; null if this user cannot mount. */
export const memoryDisk = (megabytes: number) => mounted(['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=755`, 'tmpfs'])

/** Mounts a disk stored in a file, which keeps synced data; null if this user cannot mount, or without ext4. */
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
    /** Unmounts at once, even if in use. */
    unmount: () => void execFileSync('umount', ['-l', folder]),
  }
}

/** Fails all access with EIO until the disk is mounted again, and drops unsynced data. Only for a disk in a file. */
export function failDisk({ folder }: Disk): void {
  // EXT4_IOC_SHUTDOWN without flushing the journal.
  const script =
    'sysopen(my $disk, shift, 0) or die $!; my $how = pack("L", 2); ioctl($disk, 0x8004587d, $how) or die $!'
  execFileSync('perl', ['-e', script, folder])
}

/** Makes a process, and its current and future children, permanently fail writes beyond the first block of a file. */
export function failWrites(pid: number): void {
  const results = withChildren(String(pid)).flatMap((one) => {
    // Children of a database come and go.
    const owner = statSync(`/proc/${one}`, { throwIfNoEntry: false })
    if (owner === undefined) return []
    // Refuses to change the limits of processes of other users.
    return spawnSync('prlimit', ['--pid', one, '--fsize=8192'], { uid: owner.uid, gid: owner.gid }).status
  })
  if (results[0] !== 0) throw new Error(`Failed to change the limits of ${pid}`)
}

/** Returns whether this machine supports such limits. */
export const canFailWrites = (): boolean => spawnSync('prlimit', ['--version']).status === 0

function withChildren(pid: string): string[] {
  const path = `/proc/${pid}/task/${pid}/children`
  if (!existsSync(path)) return [pid]
  return [pid, ...readFileSync(path, 'utf8').split(' ').filter(Boolean).flatMap(withChildren)]
}
