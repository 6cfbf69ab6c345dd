// A cluster to try Parley on: three databases under Patroni, two apis, two workers, a balancer, a platform and a receiver of
// webhooks, each on a machine of its own as far as the network goes.
//
//   npm run cluster -- up|down|status
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { machines, outerUrl } from './machines.ts'
import { hub, makeNetwork, namespaceOf, namespaces, processesIn, removeNetwork } from './network.ts'
import { ensurePackages } from './packages.ts'
import { folder, makePlace, readState, removePlace } from './place.ts'
import { endAll } from './processes.ts'

const within = fileURLToPath(new URL('within.ts', import.meta.url))

/** Makes the cluster and resolves once all of it serves. */
export async function up(): Promise<void> {
  await refuseSecond()
  makePlace()
  await makeNetwork()
  const code = await runWithin(['up'])
  if (code !== 0) throw new Error(`The cluster did not come up; its logs are in ${folder}/logs`)
}

/** There is one at a time: its machines have names that the whole system knows. */
export async function refuseSecond(): Promise<void> {
  ensurePackages()
  if ((await namespaces()).length > 0) throw new Error('There is a cluster already: npm run cluster -- down')
}

/** Runs a part of this on the bridge, where all machines are within reach; resolves with its exit code. */
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

/** Ends every process of the cluster and removes all but its logs, in whatever state it was left. */
export async function down(): Promise<void> {
  ensurePackages()
  const there = await namespaces()
  // Databases last: whoever uses them says goodbye first.
  const order = machines.map(namespaceOf).toReversed()
  for (const name of [hub, ...order].filter((one) => there.includes(one))) {
    await endAll(name, [
      // Those that were frozen hear nothing else.
      { signal: 'SIGCONT', patienceMs: 0 },
      { signal: 'SIGKILL', patienceMs: 10_000 },
    ])
  }
  await removeNetwork()
  removePlace(true)
}

async function status(): Promise<number> {
  ensurePackages()
  const [state, there] = [readState(), await namespaces()]
  if (state === null || there.length === 0) {
    console.log('There is no cluster.')
    return 1
  }
  for (const { name, machine, pid } of state.started) {
    // Another process may have the same number by now, but none on the same machine.
    const runs = (await processesIn(namespaceOf(machine))).includes(pid)
    console.log(`${name.padEnd(10)} on ${machine.padEnd(10)} ${runs ? `runs (${pid})` : 'is gone'}`)
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

/** Says what went wrong, where something did, in place of a stack that tells users nothing. */
export async function telling(work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const usage = () => Promise.reject(new Error('npm run cluster -- up|down|status'))
  await telling(commands[process.argv[2] ?? ''] ?? usage)
}
