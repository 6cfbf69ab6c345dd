/** Returns what `work` does, when it does so in time; else rejects. The work itself goes on. */
export async function withTimeout<T>(maxMs: number, work: () => Promise<T>): Promise<T> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`No answer within ${maxMs} ms`)), maxMs)
  try {
    return await Promise.race([work(), tooLate])
  } finally {
    clearTimeout(timer)
  }
}
