import { constants, setPriority, totalmem } from 'node:os'

/**
 * Lets other processes of this machine have the processors first: nobody waits for what a lone worker does, while the
 * callers of the API beside it do. Where the system does not allow it, things are as they were.
 */
export function lowerPriority(): void {
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // Some sandboxes forbid it.
  }
}

/** What this process may use: a container is given less than its machine has. */
export function memoryBytes(): number {
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}
