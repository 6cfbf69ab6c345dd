import type { Socket } from 'node:net'

/**
 * Closes a connection with RST. A connection that is already closing cannot be reset: Node then believes it to be
 * closed, which it never is, and the process spins forever when it exits.
 */
export function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy()
  else socket.resetAndDestroy()
}
