import { type Loop, type Repeat, repeatAtOnce } from '../../../base/async/loop.ts'
import type { Log } from '../../../base/log.ts'
import { watchDue } from '../../../base/news.ts'
import type { Outgoing } from '../../../base/outgoing/guarded-fetch.ts'
import type { SessionConnection } from '../../connection/connection.ts'
import { waitingTopic } from '../send/sends.ts'
import { baileysTransport } from '../transport/baileys-transport.ts'
import { simulatedTransport } from '../transport/simulated-transport.ts'
import type { Transport } from '../transport/transport.ts'
import type { HoldDeps } from './hold.ts'
import { createSessionHolder, type SessionHolder } from './holder.ts'
import { readStanding } from './lease.ts'
import { freedTopic, wishTopic } from './session-queries.ts'

const lookEveryMs = 1_000
const lookForDeadEveryMs = 1_000
/** Of what no news told. */
const askEveryMs = 5_000
const renewEveryMs = 4_000
const sendEveryMs = 1_000
const tickEveryMs = 250

/** Holds QR sessions, together with any number of other processes that do. */
export function startSessions({ repeat = repeatAtOnce, ...deps }: HoldDeps & { repeat?: Repeat }): Loop {
  const holder = createSessionHolder(deps)
  const onError = (error: unknown) => deps.log.error('sessions not served', {}, error)
  const stopListening = listen(deps, holder, onError)
  const loop = (pauseMs: number, work: () => Promise<unknown>) => repeat(pauseMs, work, onError)
  // Of others that hold nothing no death is missed.
  let isHeldByOthers = false
  const nextAt = async (now: Date) => {
    const standing = await readStanding(deps.db.sql)
    isHeldByOthers = standing.isHeldByOthers
    return standing.freeInMs === null ? null : new Date(now.getTime() + standing.freeInMs)
  }
  const news = [{ topic: wishTopic }, { topic: freedTopic }]
  const watch = watchDue(deps, { nextAt, askEveryMs, news })
  // News may be lost, so all of it is looked for as well.
  const loops = [
    loop(tickEveryMs, async () => holder.tick()),
    loop(renewEveryMs, () => holder.renew()),
    loop(sendEveryMs, () => holder.send()),
    loop(lookEveryMs, async () => (await watch.isDue()) && holder.look()),
    loop(lookForDeadEveryMs, async () => {
      if (isHeldByOthers && (await holder.lookForDead())) await holder.look()
    }),
  ]
  return {
    stop: async () => {
      stopListening()
      await Promise.all([holder.stop(), ...loops.map((one) => one.stop())])
    },
  }
}

/** Acts on news at once. */
function listen({ db }: HoldDeps, holder: SessionHolder, onError: (error: unknown) => void): () => void {
  const stops = [
    db.onNews(wishTopic, (connectionId) => void holder.renew(connectionId).then(holder.look).catch(onError)),
    db.onNews(waitingTopic, (connectionId) => void holder.send(connectionId).catch(onError)),
  ]
  return () => {
    for (const stop of stops) stop()
  }
}

/** What carries each connection's session: Baileys to the real network, or the way to a simulator. */
export function openTransports(deps: { log: Log; outgoing: Outgoing }): (connection: SessionConnection) => Transport {
  const real = baileysTransport(deps)
  const simulated = simulatedTransport(deps.outgoing)
  return ({ settings }) => (settings.baseUrl === null ? real : simulated)
}
