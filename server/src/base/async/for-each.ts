/** Works on items, at most `atOnce` at a time; rejects with the first failure. */
export async function forEach<T>(items: readonly T[], atOnce: number, work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values()
  const next = async () => {
    for (const item of queue) await work(item)
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, next))
}
