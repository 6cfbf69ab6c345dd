import { readFile, stat } from 'node:fs/promises'
import { isIP } from 'node:net'

const path = process.platform === 'win32' ? 'C:\\Windows\\System32\\drivers\\etc\\hosts' : '/etc/hosts'
const maxBytes = 1024 * 1024

/** The names that the operator of this machine has given addresses to; the file is read again when it has changed. */
export function openHostsFile(): () => Promise<Map<string, string[]>> {
  let read = { changedMs: 0, hosts: new Map<string, string[]>() }
  return async () => {
    try {
      const { mtimeMs, size } = await stat(path)
      if (size > maxBytes) return new Map()
      if (read.changedMs !== mtimeMs) read = { changedMs: mtimeMs, hosts: parseHosts(await readFile(path, 'utf8')) }
      return read.hosts
    } catch {
      return new Map()
    }
  }
}

function parseHosts(text: string): Map<string, string[]> {
  const hosts = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    if (isIP(address) === 0) continue
    for (const name of names) {
      const host = name.toLowerCase()
      const known = hosts.get(host) ?? []
      if (!known.includes(address)) hosts.set(host, [...known, address])
    }
  }
  return hosts
}
