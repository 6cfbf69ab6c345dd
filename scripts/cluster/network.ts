import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { addressOf, hostLink, hubAddress, type Machine, machines, prefixBits } from './machines.ts'

/** Namespace of the bridge, and of processes that must reach all machines. */
export const hub = 'parley-hub'
const bridge = 'bridge'
const hostLinkName = 'parley-door'

export const namespaceOf = (machine: Machine): string => `parley-${machine}`
const all = [hub, ...machines.map(namespaceOf)]
/** Name of the bridge port of a machine. */
const linkName = (machine: Machine): string => `to-${machine}`

const run = promisify(execFile)

async function ip(...words: string[]): Promise<string> {
  const { stdout } = await run('ip', words)
  return stdout
}

/** Returns the existing namespaces of the cluster. */
export async function namespaces(): Promise<string[]> {
  const names = (await ip('netns', 'list')).split('\n').map((line) => line.split(' ')[0] ?? '')
  return all.filter((name) => names.includes(name))
}

/** Creates a namespace per machine, on one bridge in its own namespace; only the door is visible from outside. */
export async function makeNetwork(): Promise<void> {
  for (const name of all) {
    await ip('netns', 'add', name)
    await ip('-n', name, 'link', 'set', 'lo', 'up')
  }
  await ip('-n', hub, 'link', 'add', bridge, 'type', 'bridge')
  await ip('-n', hub, 'address', 'add', `${hubAddress}/${prefixBits}`, 'dev', bridge)
  await ip('-n', hub, 'link', 'set', bridge, 'up')
  for (const machine of machines) await connectMachine(machine)
  const inner = namespaceOf('balancer')
  await ip('link', 'add', hostLinkName, 'type', 'veth', 'peer', 'name', 'door', 'netns', inner)
  await ip('address', 'add', `${hostLink.outer}/${hostLink.bits}`, 'dev', hostLinkName)
  await ip('link', 'set', hostLinkName, 'up')
  await ip('-n', inner, 'address', 'add', `${hostLink.inner}/${hostLink.bits}`, 'dev', 'door')
  await ip('-n', inner, 'link', 'set', 'door', 'up')
}

async function connectMachine(machine: Machine): Promise<void> {
  const [name, end] = [namespaceOf(machine), linkName(machine)]
  await ip('-n', hub, 'link', 'add', end, 'type', 'veth', 'peer', 'name', 'wire', 'netns', name)
  await ip('-n', hub, 'link', 'set', end, 'master', bridge)
  await ip('-n', hub, 'link', 'set', end, 'up')
  await ip('-n', name, 'address', 'add', `${addressOf(machine)}/${prefixBits}`, 'dev', 'wire')
  await ip('-n', name, 'link', 'set', 'wire', 'up')
}

/** Disconnects a machine from the network, or reconnects it. Neither side is notified. */
export async function setConnected(machine: Machine, isConnected: boolean): Promise<void> {
  await ip('-n', hub, 'link', 'set', linkName(machine), isConnected ? 'up' : 'down')
}

/** Returns the processes of a machine. Only this program starts processes in its namespaces. */
export async function processesIn(namespace: string): Promise<number[]> {
  const lines = await ip('netns', 'pids', namespace)
  return lines.split('\n').filter(Boolean).map(Number)
}

/** Removes what exists of the network; its links are removed with their namespaces. */
export async function removeNetwork(): Promise<void> {
  for (const name of await namespaces()) await ip('netns', 'delete', name)
  await ip('link', 'delete', hostLinkName).catch(() => {})
}
