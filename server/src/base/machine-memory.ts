import { totalmem } from 'node:os'

/** What this process may use: a container is given less than its machine has. */
export function memoryBytes(): number {
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}
