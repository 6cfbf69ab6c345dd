// The parts of `run.ts` that run on the bridge, where all machines are reachable.
import { members } from './up/databases.ts'
import { listServingApis } from './up/services.ts'
import { startAll } from './up/up.ts'

const parts: Record<string, () => Promise<void>> = {
  up: () => startAll((words) => console.log(words)),
  status: async () => {
    for (const { name, role, state, lag } of await members()) {
      console.log(`${name} is ${role}, ${state}${lag === undefined ? '' : `, ${lag} bytes behind`}`)
    }
    console.log(`The load balancer sends requests to ${(await listServingApis()).join(' and ') || 'no API'}`)
  },
}

await parts[process.argv[2] ?? '']?.()
