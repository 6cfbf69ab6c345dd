import pLimit from 'p-limit'
import { tooManyRequests } from '../../../base/errors.ts'

/** A member, or an agent's key. */
interface Reader {
  workspaceId: string
  actor: { id: string }
}

/** How many files may be on their way at a time. */
interface Places {
  ofMember: number
  ofWorkspace: number
  ofAll: number
}

/** Each that is read holds a chunk of 64 KiB, whoever reads it however slowly: few workspaces cannot take all of them. */
export const readingPlaces: Places = { ofMember: 16, ofWorkspace: 64, ofAll: 1_024 }
/** Each that is taken in holds some 200 KiB, or 10 MiB on its way to a bucket. */
export const takingPlaces: Places = { ofMember: 4, ofWorkspace: 8, ofAll: 16 }

const waitingPerPlace = 8

type Limit = ReturnType<typeof limitOf>

/** Gives members, their workspaces and all together so many places each; who comes later waits for one, as long as few do. */
export function filePlaces({
  ofMember,
  ofWorkspace,
  ofAll,
}: Places): <T>(reader: Reader, work: () => Promise<T>) => Promise<T> {
  const members = limitEach(ofMember)
  const workspaces = limitEach(ofWorkspace)
  const all = limitOf(ofAll)
  return ({ workspaceId, actor }, work) => members(actor.id, () => workspaces(workspaceId, () => all(work)))
}

function limitOf(atOnce: number) {
  const inTurn = pLimit(atOnce)
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (inTurn.pendingCount < atOnce * waitingPerPlace) return inTurn(work)
    throw tooManyRequests('Too many files are on their way at once. Wait until some of them have come.', 5, {
      code: 'RATE_LIMITED',
    })
  }
}

/** A limit of its own for each name, for as long as somebody uses it. */
function limitEach(atOnce: number) {
  const limits = new Map<string, { limit: Limit; users: number }>()
  return async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const one = limits.get(name) ?? { limit: limitOf(atOnce), users: 0 }
    limits.set(name, one)
    one.users++
    try {
      return await one.limit(work)
    } finally {
      one.users--
      if (one.users === 0) limits.delete(name)
    }
  }
}
