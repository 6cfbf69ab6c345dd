import { limitConcurrency } from '../../../base/async/concurrency-limit.ts'
import { tooManyRequests } from '../../../base/errors.ts'
import type { Member } from '../../../team/member.ts'

/** Files that are read at a time: each holds a chunk of 64 KiB, whoever reads it however slowly. */
const [ofMember, ofWorkspace, ofAll] = [16, 64, 256]
const waitingPerPlace = 8

type Limit = ReturnType<typeof limitConcurrency>

/** Gives members, their workspaces and all together so many places each; who comes later waits for one, as long as few do. */
export function readingPlaces(): <T>(member: Member, work: () => Promise<T>) => Promise<T> {
  const members = limitEach(ofMember)
  const workspaces = limitEach(ofWorkspace)
  const all = limitOf(ofAll)
  return ({ workspaceId, actor }, work) => members(actor.id, () => workspaces(workspaceId, () => all(work)))
}

const limitOf = (atOnce: number): Limit =>
  limitConcurrency({
    atOnce,
    maxWaiting: atOnce * waitingPerPlace,
    refusal: () =>
      tooManyRequests('Too many files are being read at once. Wait until some of them have been.', 5, {
        code: 'RATE_LIMITED',
      }),
  })

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
