// Local cluster for tests: three databases under Patroni, two APIs, two workers, a load balancer, a platform and a
// webhook receiver, each in its own network namespace.
//
//   npm run cluster -- up|down|status
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { createClusterFolder, folder, readState, removeClusterFolder } from './cluster-folder.ts'
import { machines, outerUrl } from './machines.ts'
import { hub, makeNetwork, namespaceOf, namespaces, processesIn, removeNetwork } from './network.ts'
import { ensurePackages } from './packages.ts'
import { endAll } from './processes.ts'

const within = fileURLToPath(new URL('within.ts', import.meta.url))

/** Creates the cluster; resolves when every part is ready. */
export async function up(): Promise<void> {
  await assertNoCluster()
  createClusterFolder()
  await makeNetwork()
  const code = await runWithin(['up'])
  if (code !== 0) throw new Error(`The cluster failed to start; its logs are in ${folder}/logs`)
}

/** Throws if a cluster exists: its namespaces have system-wide names, so there can be only one. */
export async function assertNoCluster(): Promise<void> {
  ensurePackages()
  if ((await namespaces()).length > 0) throw new Error('A cluster is already running. Run: npm run cluster -- down')
}

/** Runs a program on the bridge, where all machines are reachable; resolves with its exit code. */
export async function runWithin(words: readonly string[], program = within): Promise<number> {
  const argv = ['netns', 'exec', hub, process.execPath, program, ...words]
  const child = spawn('ip', argv, { stdio: 'inherit' })
  const forward = (signal: NodeJS.Signals) => child.kill(signal)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, forward)
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  child.once('error', reject)
  child.once('exit', (code) => resolve(code ?? 1))
  return promise.finally(() => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, forward)
  })
}

/** Ends every process of the cluster in any state, and removes all but its logs. */
export async function down(): Promise<void> {
  ensurePackages()
  const existing = await namespaces()
  // Databases last, so that their clients can disconnect first.
  const order = machines.map(namespaceOf).toReversed()
  for (const name of [hub, ...order].filter((one) => existing.includes(one))) {
    await endAll(name, [
      // Frozen processes react to no other signal.
      { signal: 'SIGCONT', timeoutMs: 0 },
      { signal: 'SIGKILL', timeoutMs: 10_000 },
    ])
  }
  await removeNetwork()
  removeClusterFolder(true)
}

async function status(): Promise<number> {
  ensurePackages()
  const [state, existing] = [readState(), await namespaces()]
  if (state === null || existing.length === 0) {
    console.log('No cluster is running.')
    return 1
  }
  for (const { name, machine, pid } of state.started) {
    // The id may have been reused by now, but not on the same machine.
    const runs = (await processesIn(namespaceOf(machine))).includes(pid)
    console.log(`${name.padEnd(10)} on ${machine.padEnd(10)} ${runs ? `running (${pid})` : 'ended'}`)
  }
  return runWithin(['status'])
}

const commands: Record<string, () => Promise<unknown>> = {
  up: async () => {
    await up()
    console.log(`Parley is at ${outerUrl}. Its team token is in ${folder}/cluster.json.`)
  },
  down,
  status: async () => {
    process.exitCode = await status()
  },
}

/** Prints the message of an error instead of a stack trace. */
export async function printErrors(work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const usage = () => Promise.reject(new Error('npm run cluster -- up|down|status'))
  await printErrors(commands[process.argv[2] ?? ''] ?? usage)
}
