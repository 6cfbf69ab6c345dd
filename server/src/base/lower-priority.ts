import { constants, setPriority } from 'node:os'

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
