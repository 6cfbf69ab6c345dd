/** Runs one named step of an operation. Passed in its deps, so that tests can observe, delay or stop between steps. */
export type RunStep<Step extends string> = <T>(step: Step, work: () => Promise<T>) => Promise<T>

/** Runs each step unchanged. */
export const runStep: RunStep<string> = (_step, work) => work()
