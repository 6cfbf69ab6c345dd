import type { Db } from '../../base/db.ts'
import { type Holding, listHoldings } from '../endpoint/queue-queries.ts'

/** A worker wants some of another's queues; the id is an `Ask`, in JSON. */
export const askTopic = 'webhooks_asked'
/** A queue of the workspace, which is the id, was given back for another worker to go on with. */
export const givenTopic = 'webhooks_given'

/** That one worker, by the name of its sessions, gives so many queues to another. */
export interface RebalanceRequest {
  from: string
  to: string
  count: number
}

/** Less is not worth the interruption, and would go back and forth. */
const minDifference = 4
const minDifferenceShare = 0.2
/** Queues change hands some at a time: whoever has just begun is slow yet. */
const maxAtOnce = 20

/**
 * Asks the worker with the most queues for a part of them, should this one have far fewer: nobody lets go of a queue
 * that has something to send every second, so that a worker that begins would have nothing to do. News may be lost:
 * then it asks again. Returns how many
 * others hold.
 */
export async function askForRebalance(db: Db): Promise<number> {
  const holdings = await listHoldings(db.sql)
  const ask = rebalanceRequestOf(holdings)
  if (ask !== null) await db.statement((tx) => tx`select`, { topic: askTopic, id: JSON.stringify(ask) })
  return holdings.slice(1).reduce((sum, { queues }) => sum + queues, 0)
}

/** What the first of them asks for. */
export function rebalanceRequestOf([own, ...others]: readonly Holding[]): RebalanceRequest | null {
  const [richest] = others.toSorted((a, b) => b.queues - a.queues)
  if (own === undefined || richest === undefined) return null
  const difference = richest.queues - own.queues
  if (difference < Math.max(minDifference, richest.queues * minDifferenceShare)) return null
  return { from: richest.session, to: own.session, count: Math.min(Math.floor(difference / 2), maxAtOnce) }
}
