/**
 * Runs one named step of an operation. Given in an operation's deps, so that whoever wants to watch, delay or cut off an
 * operation between two of its steps can wrap them.
 */
export type RunStep<Step extends string> = <T>(step: Step, work: () => Promise<T>) => Promise<T>

/** Runs each step as it is. */
export const runStep: RunStep<string> = (_step, work) => work()
