import { setTimeout as sleep } from 'node:timers/promises'
import type { RotationDeps } from './rotation.ts'
import { takeStep } from './step.ts'

const shiftMs = 2_000

/** Takes steps while there are any, for two seconds at most. Returns how many; any number of nodes may do so at once. */
export async function workOnRotations(deps: RotationDeps): Promise<number> {
  const endsAt = performance.now() + shiftMs
  let steps = 0
  for (;;) {
    const startedAt = performance.now()
    if (!(await takeStep(deps))) return steps
    steps++
    if (performance.now() > endsAt) return steps
    // Half of the time belongs to those who use the service.
    await sleep(performance.now() - startedAt)
  }
}
