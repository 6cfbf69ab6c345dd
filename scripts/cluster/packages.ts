import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { isProgram } from '../is-program.ts'

/** What each of Debian's packages is needed for. */
const needed: Record<string, string> = {
  patroni: 'patroni',
  patronictl: 'patroni',
  etcd: 'etcd-server',
  haproxy: 'haproxy',
  ip: 'iproute2',
  setpriv: 'util-linux',
}
// What Patroni speaks to etcd by.
const pythonModule = { name: 'etcd', package: 'python3-etcd' }
const versionsFolder = '/usr/lib/postgresql'
// Not in everybody's path.
const more = ['/usr/sbin', '/sbin']

/** Installs what is missing, which only root may do; anybody else is told how. */
export function ensurePackages(): void {
  if (process.platform !== 'linux') throw new Error('The cluster is made of network namespaces: it takes Linux')
  if (process.getuid?.() !== 0) throw new Error('Network namespaces take root: sudo npm run cluster -- up')
  process.env.PATH = [process.env.PATH, ...more].join(delimiter)
  const missing = missingPackages()
  if (missing.length === 0) return
  if (spawnSync('apt-get', ['--version']).status !== 0) throw new Error(`Missing: ${missing.join(', ')}`)
  console.log(`Installing ${missing.join(', ')}`)
  // No server is to be started by its installation.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  execFileSync('apt-get', ['install', '--yes', '--no-install-recommends', ...missing], { env, stdio: 'inherit' })
  const left = missingPackages()
  if (left.length > 0) throw new Error(`Missing: ${left.join(', ')}`)
}

function missingPackages(): string[] {
  const found = Object.entries(needed).flatMap(([program, name]) => (isThere(program) ? [] : [name]))
  const hasModule = spawnSync('/usr/bin/python3', ['-c', `import ${pythonModule.name}`]).status === 0
  return [
    ...new Set([
      ...found,
      ...(postgresFolder() === null ? ['postgresql'] : []),
      ...(hasModule ? [] : [pythonModule.package]),
    ]),
  ]
}

function isThere(program: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => isProgram(join(folder, program)))
}

/** Where the newest PostgreSQL from 15 on has its programs; null when there is none. */
export function postgresFolder(): string | null {
  const names = isProgram(versionsFolder) ? readdirSync(versionsFolder) : []
  const versions = names.map(Number).filter((version) => version >= 15)
  const folders = versions.sort((a, b) => b - a).map((version) => join(versionsFolder, String(version), 'bin'))
  return folders.find((folder) => isProgram(join(folder, 'postgres'))) ?? null
}
