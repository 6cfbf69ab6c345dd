import { existsSync, readFileSync } from 'node:fs'
import type { Arrival, Receiver } from './receivers.ts'

/** An event as its writer knows it. */
export interface WrittenEvent {
  workspaceId: string
  subject: string
  /** Its place among the events of the subject. */
  n: number
  committedAt: number
}

/** A worker that was killed. */
export interface Kill {
  worker: number
  at: number
}

/** An attempt that was not answered in time: the endpoint may have taken it all the same, and gets it again. */
export interface GivenUp {
  worker: number
  url: string
  id: string
}

/** What workers have noted in this file. */
export function readGivenUp(file: string): GivenUp[] {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line))
}

/** What a run did and what came of it; times in milliseconds since 1970. */
export interface DeliveryHistory {
  receivers: readonly (Receiver & { workspaceId: string })[]
  written: readonly WrittenEvent[]
  arrivals: readonly Arrival[]
  kills: readonly Kill[]
  /** What their senders did not wait for any longer. */
  givenUp: readonly GivenUp[]
}

/** As long as an attempt may take, and more than the writing of its result does: older ones are never repeated. */
const unsettledMs = 15_000
const shownProblems = 10

/** Everything in a history that breaks a promise of the delivery, the first few in words. */
export function brokenPromises(history: DeliveryHistory): string[] {
  const problems = [
    ...signatures(history),
    ...bytes(history),
    ...losses(history),
    ...order(history),
    ...repeats(history),
  ]
  const more = problems.length - shownProblems
  return more > 0 ? [...problems.slice(0, shownProblems), `and ${more} more`] : problems
}

function signatures({ arrivals }: DeliveryHistory): string[] {
  return arrivals.flatMap(({ problem, receiver }) => (problem === null ? [] : [`endpoint ${receiver}: ${problem}`]))
}

/** One id and one body for each event, at every endpoint and in every attempt. */
function bytes({ arrivals }: DeliveryHistory): string[] {
  const known = new Map<string, string>()
  return arrivals.flatMap(({ subject, n, id, hash }) => {
    const first = known.get(`${subject} ${n}`)
    known.set(`${subject} ${n}`, first ?? `${id} ${hash}`)
    return first === undefined || first === `${id} ${hash}`
      ? []
      : [`event ${n} of ${subject} came as ${id} and ${first}`]
  })
}

/** Endpoints that answer in the end have every event of their workspace, and nobody has one of another's. */
function losses({ receivers, written, arrivals }: DeliveryHistory): string[] {
  const taken = new Set(arrivals.filter(({ status }) => status === 200).map(placeOf))
  const workspaces = new Map(written.map(({ subject, workspaceId }) => [subject, workspaceId]))
  const foreign = arrivals.filter(
    ({ receiver, subject }) => receivers[receiver]?.workspaceId !== workspaces.get(subject),
  )
  const lost = receivers.flatMap(({ behaviour, workspaceId }, receiver) =>
    isHopeless(behaviour)
      ? []
      : written
          .filter((event) => event.workspaceId === workspaceId && !taken.has(placeOf({ ...event, receiver })))
          .map(({ subject, n }) => `endpoint ${receiver} (${behaviour.kind}) never took event ${n} of ${subject}`),
  )
  return [...lost, ...foreign.map(({ receiver, id }) => `endpoint ${receiver} got ${id}, of another workspace`)]
}

/** No event of a subject arrives before the endpoint has taken the one before it. */
function order({ arrivals }: DeliveryHistory): string[] {
  const takenAt = new Map<string, number>()
  const seen = new Set<string>()
  for (const arrival of arrivals) {
    const place = placeOf(arrival)
    if (arrival.status === 200 && !takenAt.has(place)) takenAt.set(place, arrival.answeredAt ?? arrival.at)
  }
  return arrivals.flatMap((arrival) => {
    const place = placeOf(arrival)
    if (seen.has(place)) return []
    seen.add(place)
    const before = placeOf({ ...arrival, n: arrival.n - 1 })
    if (arrival.n === 0 || (takenAt.get(before) ?? Number.POSITIVE_INFINITY) <= arrival.at) return []
    return [`endpoint ${arrival.receiver} got event ${arrival.n} of ${arrival.subject} before it took the one before`]
  })
}

/** What an endpoint has taken comes again only if its sender died before it could write that down, or got no answer in time. */
function repeats(history: DeliveryHistory): string[] {
  const givenUp = new Set(history.givenUp.map(({ worker, url, id }) => `${worker} ${new URL(url).pathname} ${id}`))
  return repeated(history).flatMap(({ receiver, id, first }) => {
    if (givenUp.has(`${first.worker} /${receiver} ${id}`)) return []
    const kill = history.kills.find(({ worker }) => worker === first.worker)
    if (kill !== undefined && kill.at - first.sentAt < unsettledMs) return []
    const end = kill === undefined ? 'lived on' : `died ${Math.round(kill.at - first.sentAt)} ms after it`
    return [`endpoint ${receiver} got ${id} again, and the first sender ${end}`]
  })
}

/** Deliveries of what the endpoint had taken already, each with the time when it took it first. */
export function repeated({ arrivals }: DeliveryHistory): (Arrival & { first: Arrival })[] {
  const taken = new Map<string, Arrival>()
  return arrivals.flatMap((arrival) => {
    const first = taken.get(placeOf(arrival))
    if (arrival.status === 200 && first === undefined) taken.set(placeOf(arrival), arrival)
    return first === undefined ? [] : [{ ...arrival, first }]
  })
}

/** From the commit of an event to its first arrival at each good endpoint, ascending. */
export function delaysOfGood({ receivers, written, arrivals }: DeliveryHistory): number[] {
  const committedAt = new Map(written.map(({ subject, n, committedAt }) => [`${subject} ${n}`, committedAt]))
  const first = new Map<string, number>()
  for (const arrival of arrivals) {
    if (receivers[arrival.receiver]?.behaviour.kind !== 'good' || first.has(placeOf(arrival))) continue
    first.set(placeOf(arrival), arrival.at - (committedAt.get(`${arrival.subject} ${arrival.n}`) ?? Number.NaN))
  }
  return [...first.values()].sort((a, b) => a - b)
}

const placeOf = ({ receiver, subject, n }: Pick<Arrival, 'receiver' | 'subject' | 'n'>) => `${receiver} ${subject} ${n}`

const isHopeless = ({ kind }: Receiver['behaviour']) => kind === 'failing' || kind === 'hanging'
