import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { atEnd } from '../file-end.ts'
import { newFolder } from '../folder.ts'
import { until } from '../until.ts'

/** A Debian of its own that systemd runs, with a network of its own. */
export interface Machine {
  folder: string
  /** Types commands into a shell of root, in this folder; returns what they print. */
  type(commands: string, cwd: string, input?: string): Promise<string>
}

const run = promisify(execFile)
/** The oldest whose systemd knows all that the units say; it boots whether or not this machine has the newer control groups. */
const suite = 'bookworm'

/** Makes a Debian with these packages, has `prepare` put into it what it needs, and boots it. */
export async function bootMachine(packages: string[], prepare: (folder: string) => Promise<void>): Promise<Machine> {
  const folder = join(await newFolder(), 'machine')
  const include = ['systemd', 'systemd-sysv', 'dbus', ...packages].join(',')
  await run(
    'mmdebstrap',
    ['--variant=minbase', `--include=${include}`, suite, folder, 'http://deb.debian.org/debian'],
    {
      maxBuffer: 50_000_000,
    },
  )
  await prepare(folder)
  const options = ['--quiet', '--boot', '--register=no', '--keep-unit', '--private-network', `--directory=${folder}`]
  const container = spawn('systemd-nspawn', options, { stdio: 'ignore' })
  const gone = once(container, 'exit')
  atEnd(async () => {
    // Which it takes for the wish to shut down.
    container.kill('SIGTERM')
    await gone
  })
  const type: Machine['type'] = async (commands, cwd, input = '') => {
    // Asked each time: as it begins, another one makes it.
    const inside = ['--target', await childOf(container), '--mount', '--uts', '--ipc', '--net', '--pid', '--root']
    const env = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root' }
    const typing = run('nsenter', [...inside, 'bash', '-ec', `cd ${cwd}\n${commands}`], { env })
    // Whoever reads none of it may be gone.
    typing.child.stdin?.on('error', () => {}).end(input)
    const { stdout, stderr } = await typing
    return stdout + stderr
  }
  const isUp = async () =>
    /running|degraded/.test(await type('systemctl is-system-running || true', '/').catch(() => ''))
  await until(isUp, 'the machine being up', 120_000)
  return { folder, type }
}

async function childOf({ pid }: ChildProcess): Promise<string> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  return children.split(' ')[0] ?? ''
}
