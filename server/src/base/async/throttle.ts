/**
 * Does the work for an id at once, and what is asked for within `restMs` of that once more at its end. The rest is
 * counted from when the work begins, and does not wait for it: what it throws is the caller's, and what it rejects with
 * its own. A rest keeps no process alive.
 */
export function throttle(restMs: number, work: (id: string) => void): (id: string) => void {
  const resting = new Map<string, { isAsked: boolean }>()
  const ask = (id: string) => {
    const rest = resting.get(id)
    if (rest !== undefined) {
      rest.isAsked = true
      return
    }
    const begun = { isAsked: false }
    resting.set(id, begun)
    setTimeout(() => {
      resting.delete(id)
      if (begun.isAsked) ask(id)
    }, restMs).unref()
    work(id)
  }
  return ask
}
