import { Resolver as NameServers } from 'node:dns/promises'
import { readFile, stat } from 'node:fs/promises'
import { isIP } from 'node:net'

/** All addresses of a name, IPv4 first. Rejects, or returns none, when there are none to be had. */
export type Resolver = (host: string) => Promise<string[]>

const rememberedMs = 5_000
const maxRemembered = 2_000

/**
 * Asks the name servers itself rather than by `getaddrinfo`, which waits in one of the process's few threads: slow name
 * servers of one receiver would hold up everybody's names. The hosts file still counts, and comes first. Answers are kept
 * for some seconds, the bad ones too. `nameServers` are the system's unless given.
 */
export function systemResolver(nameServers?: readonly string[]): Resolver {
  const servers = new NameServers({ timeout: 1_000, tries: 2 })
  if (nameServers !== undefined) servers.setServers(nameServers)
  const readHosts = openHostsFile()
  const remembered = new Map<string, { addresses: Promise<string[]>; until: number }>()
  return (host) => {
    const known = remembered.get(host)
    if (known !== undefined && performance.now() < known.until) return known.addresses
    const addresses = readHosts().then((hosts) => hosts.get(host) ?? askServers(servers, host))
    addresses.catch(() => {})
    remembered.delete(host)
    remembered.set(host, { addresses, until: performance.now() + rememberedMs })
    const [oldest] = remembered.keys()
    if (remembered.size > maxRemembered && oldest !== undefined) remembered.delete(oldest)
    return addresses
  }
}

async function askServers(servers: NameServers, host: string): Promise<string[]> {
  // Most names have no IPv6 address, which is a rejection: one family is enough.
  const answers = await Promise.allSettled([servers.resolve4(host), servers.resolve6(host)])
  return answers
    .flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    .filter((text) => isIP(text) > 0)
}

const path = process.platform === 'win32' ? 'C:\\Windows\\System32\\drivers\\etc\\hosts' : '/etc/hosts'
const maxBytes = 1024 * 1024

/** The names that the operator of this machine has given addresses to; the file is read again when it has changed. */
function openHostsFile(): () => Promise<Map<string, string[]>> {
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
