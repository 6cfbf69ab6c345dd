import type { RunStep } from '../../src/base/steps.ts'

/** Runs each step, then lets `act` do something before the next one begins: kill the process, fail, wait. */
export function afterStep<Step extends string>(act: (step: Step) => Promise<void> | void): RunStep<Step> {
  return async (step, work) => {
    const result = await work()
    await act(step)
    return result
  }
}
