import { constants, setPriority, totalmem } from 'node:os'

/** Lowers the priority of this process below those that serve the API. Does nothing if the system forbids it. */
export function lowerPriority(): void {
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // Some sandboxes forbid it.
  }
}

/** Returns the memory that this process may use: a container's limit, if it is below the machine's memory. */
export function memoryBytes(): number {
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}
