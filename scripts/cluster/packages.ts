import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { isProgram } from '../is-program.ts'

/** Debian package of each required program. */
const packageOf: Record<string, string> = {
  patroni: 'patroni',
  patronictl: 'patroni',
  etcd: 'etcd-server',
  haproxy: 'haproxy',
  ip: 'iproute2',
  setpriv: 'util-linux',
}
// Patroni's client for etcd.
const pythonModule = { name: 'etcd', package: 'python3-etcd' }
const versionsFolder = '/usr/lib/postgresql'
// Not in every user's PATH.
const systemPaths = ['/usr/sbin', '/sbin']

/** Installs missing packages as root; otherwise throws with instructions. */
export function ensurePackages(): void {
  if (process.platform !== 'linux') throw new Error('The cluster requires Linux network namespaces')
  if (process.getuid?.() !== 0) throw new Error('Network namespaces require root: sudo npm run cluster -- up')
  process.env.PATH = [process.env.PATH, ...systemPaths].join(delimiter)
  const missing = missingPackages()
  if (missing.length === 0) return
  if (spawnSync('apt-get', ['--version']).status !== 0) throw new Error(`Missing: ${missing.join(', ')}`)
  console.log(`Installing ${missing.join(', ')}`)
  // Keeps the packages from starting their services.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  execFileSync('apt-get', ['install', '--yes', '--no-install-recommends', ...missing], { env, stdio: 'inherit' })
  const left = missingPackages()
  if (left.length > 0) throw new Error(`Missing: ${left.join(', ')}`)
}

function missingPackages(): string[] {
  const found = Object.entries(packageOf).flatMap(([program, name]) => (isThere(program) ? [] : [name]))
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

/** Returns the folder with programs of the newest PostgreSQL, at least 15; null if there is none. */
export function postgresFolder(): string | null {
  const names = isProgram(versionsFolder) ? readdirSync(versionsFolder) : []
  const versions = names.map(Number).filter((version) => version >= 15)
  const folders = versions.sort((a, b) => b - a).map((version) => join(versionsFolder, String(version), 'bin'))
  return folders.find((folder) => isProgram(join(folder, 'postgres'))) ?? null
}
