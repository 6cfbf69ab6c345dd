/**
 * Gives the memory of a piece that nobody will look at any more back at once. The collector leaves some 70 MB of them
 * lying, since to it they are small.
 */
export function releaseMemory(piece: Uint8Array): void {
  const { buffer, byteLength } = piece
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}
