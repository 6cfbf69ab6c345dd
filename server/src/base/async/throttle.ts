/** Does the work for an id at once, and what is asked for within the rest after it once more at its end. */
export function throttle(ms: number, work: (id: string) => unknown): (id: string) => void {
  const resting = new Map<string, { asked: boolean }>()
  const ask = (id: string) => {
    const rest = resting.get(id)
    if (rest !== undefined) {
      rest.asked = true
      return
    }
    const begun = { asked: false }
    resting.set(id, begun)
    work(id)
    setTimeout(() => {
      resting.delete(id)
      if (begun.asked) ask(id)
    }, ms).unref()
  }
  return ask
}
