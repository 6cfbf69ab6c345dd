import { release } from '../../base/bytes/release.ts'

/** A body as it comes; a piece is good until the next is asked for. */
export interface Arriving {
  bytes: AsyncGenerator<Uint8Array>
  /** Why it ended before its end; null when it did not, or for a reason of its own. */
  ended(): 'too_large' | 'silent' | null
  /** No NUL has come. */
  isText(): boolean
}

const silenceMs = 30_000

/** Passes on what comes, up to so many bytes, and for as long as something does. */
export function arriving(body: AsyncIterable<Uint8Array>, maxBytes: number, silentForMs = silenceMs): Arriving {
  let ended: 'too_large' | 'silent' | null = null
  let isText = true
  async function* pass() {
    const pieces = body[Symbol.asyncIterator]()
    try {
      for (let size = 0; ; ) {
        const piece = await within(pieces.next(), silentForMs)
        if (piece === null) {
          ended = 'silent'
          throw new Error('The body of an upload stopped coming')
        }
        if (piece.done === true) return
        size += piece.value.length
        if (size > maxBytes) {
          ended = 'too_large'
          throw new Error('The body of an upload is too large')
        }
        if (isText && piece.value.includes(0)) isText = false
        yield piece.value
        release(piece.value)
      }
    } finally {
      // Not waited for: a body that is silent does not end either.
      pieces.return?.()?.catch(() => {})
    }
  }
  return { bytes: pass(), ended: () => ended, isText: () => isText }
}

/** Null when it takes longer. */
async function within<T>(work: Promise<T>, ms: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, ms, null)
  })
  work.catch(() => {})
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
