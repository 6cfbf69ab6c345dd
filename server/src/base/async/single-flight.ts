import { isOutOfPatience } from './patience.ts'

/**
 * A function whose calls share runs of `work`. A call never shares a run that had begun before it, since that one may
 * have looked too early: whoever calls during a run shares the next one, which begins when this one ends. Runs do not
 * overlap. A run that fails rejects for those who shared it, and for nobody else, unless they have waited for long and it is
 * the database that is away.
 */
export function singleFlight<T>(work: () => Promise<T>): () => Promise<T> {
  const ask = singleFlightByKey(work)
  return () => ask('')
}

/** The same for each key by itself. */
export function singleFlightByKey<T>(work: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const flights = new Map<string, Flight<T>>()
  const begin = (key: string): Promise<T> => {
    const flight: Flight<T> = { run: work(key), next: null }
    flights.set(key, flight)
    const forget = () => void (flight.next === null && flights.delete(key))
    flight.run.then(forget, forget)
    return flight.run
  }
  const afterRun = (run: Promise<T>, key: string): Promise<T> => {
    const sinceMs = performance.now()
    const goOn = () => begin(key)
    return run.then(goOn, (error) => {
      if (!isOutOfPatience(error, sinceMs)) return goOn()
      flights.delete(key)
      throw error
    })
  }
  return (key) => {
    const flight = flights.get(key)
    if (flight === undefined) return begin(key)
    flight.next ??= afterRun(flight.run, key)
    return flight.next
  }
}

interface Flight<T> {
  run: Promise<T>
  /** Begins when `run` has ended; null while nobody has asked for it. */
  next: Promise<T> | null
}
