import type { RunStep } from '../../src/base/run-step.ts'

/** Runs each step, then runs `act` before the next one, which can kill the process, fail or wait. */
export function afterStep<Step extends string>(act: (step: Step) => Promise<void> | void): RunStep<Step> {
  return async (step, work) => {
    const result = await work()
    await act(step)
    return result
  }
}
