import type { Socket } from 'node:net'

/**
 * Ends a connection without a goodbye. One that is saying goodbye by itself cannot be reset: Node then believes it to be closed, which
 * it never is, and a process that has such a one spins for ever as it exits.
 */
export function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy()
  else socket.resetAndDestroy()
}
