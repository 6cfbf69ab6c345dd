/** Resolves after `ms` milliseconds, or rejects with the signal's reason. */
export type Pause = (ms: number, signal?: AbortSignal | undefined) => Promise<void>

export const pause: Pause = (ms, signal) =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })

/** Returns a signal that aborts with the outer one or at the timeout. `end` detaches it from the outer one. */
export function timeoutSignal(outer: AbortSignal | undefined, timeoutMs: number): { signal: AbortSignal; end(): void } {
  const controller = new AbortController()
  const abort = () => controller.abort()
  const timer = setTimeout(abort, timeoutMs)
  if (outer?.aborted) abort()
  outer?.addEventListener('abort', abort, { once: true })
  return {
    signal: controller.signal,
    end: () => {
      clearTimeout(timer)
      outer?.removeEventListener('abort', abort)
    },
  }
}
