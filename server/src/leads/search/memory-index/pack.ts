type Column = Uint8Array | Uint16Array | Uint32Array | Float64Array

/** From here on memory is worth to be given back. */
const largeBytes = 1024 ** 2
/** The C library keeps what is freed for later use, except for pieces that are larger than 32 MB. */
const returnedBytes = 33 * 1024 ** 2

/**
 * The same columns in one piece of memory. A large one is asked for larger than it need be, since only so does it go back
 * to the system when it is dropped; the pages that nothing is written to take no memory.
 */
export function pack<T extends Record<string, Column>>(columns: T): T {
  const bytes = Object.values(columns).reduce((sum, column) => sum + aligned(column.byteLength), 0)
  const memory = Buffer.allocUnsafeSlow(bytes < largeBytes ? bytes : Math.max(bytes, returnedBytes))
  let at = 0
  const moved = (column: Column): Column => {
    const from = Buffer.from(column.buffer, column.byteOffset, column.byteLength)
    from.copy(memory, at)
    const view = viewOf(column, memory.buffer, at)
    at += aligned(column.byteLength)
    return view
  }
  return Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, moved(column)])) as T
}

const aligned = (bytes: number): number => Math.ceil(bytes / 8) * 8

function viewOf(column: Column, memory: ArrayBuffer, at: number): Column {
  if (Buffer.isBuffer(column)) return Buffer.from(memory, at, column.length)
  const View = column.constructor as new (memory: ArrayBuffer, at: number, length: number) => Column
  return new View(memory, at, column.length)
}
