import { setTimeout as sleep } from 'node:timers/promises'
import { commitBehind } from '../../base/db.ts'
import type { Outgoing, RefusalEffect, SendResult } from '../../channels/connector.ts'
import { noteActivity } from '../../channels/health/activity.ts'
import { allowStart, type DispatchKey, ownerHasChanged, stayAlive, type Verdict } from '../conversation/dispatches.ts'
import { sealExternalId } from '../conversation/message.ts'
import { externalIndex } from '../conversation/sealed.ts'
import { outcomeUnknown } from '../conversation/status-ladder.ts'
import { takeoverWaitMs } from '../conversation/takeover-wait.ts'
import { takePlace } from './pace.ts'
import { persist } from './persist.ts'
import type { SendDeps } from './send-deps.ts'
import { recordPart } from './send-queries.ts'
import type { Reserved } from './send-reserve.ts'

/** A connector gives up sooner; this is for one that does not. */
const maxCallMs = 25_000
/** How long a send waits for those before it in its conversation, so that its caller is still there for the answer. */
const maxTurnMs = 25_000
const pollMs = 250
/** How soon to ask again while a change of owner is about to be. */
const heldMs = 50
const aliveEveryMs = 5000

export interface Refusal {
  effect: RefusalEffect
  errorCode: string
}

type PartOutcome = { outcome: 'stopped'; errorCode: string } | SendResult

/**
 * Takes a reserved send to the platform, part after part, no transaction being open. What becomes of each part is in the
 * database before the next one goes; anything but acceptance ends it. Returns the platform's refusal, if there was one.
 */
export async function dispatchSend(deps: SendDeps, reserved: Reserved): Promise<Refusal | null> {
  let isOurTurn = await deps.step('awaitTurn', async () => reserved.turn === 1 || awaitTurn(deps, reserved))
  for (const [index, outgoing] of reserved.parts.entries()) {
    isOurTurn = isOurTurn && (await deps.step('awaitPace', () => awaitPace(deps, reserved)))
    const result = isOurTurn ? await deps.step('call', () => sendPart(deps, reserved, index + 1, outgoing)) : notSent
    await deps.step('note', () => persist(() => note(deps, reserved, index + 1, result)))
    if (result.outcome === 'refused') return result
    if (result.outcome !== 'accepted') return null
  }
  return null
}

const notSent: PartOutcome = { outcome: 'stopped', errorCode: 'not_sent' }

// False when those before it take too long, as after one to a platform that hangs; and when this process was taken for dead
// meanwhile: others may have gone first, so it must not send any more.
async function awaitTurn(deps: SendDeps, reserved: Reserved): Promise<boolean> {
  const giveUpAt = performance.now() + (deps.maxTurnMs ?? maxTurnMs)
  for (;;) {
    const woken = deps.wakes.next(reserved.conversationId, pollMs)
    const state = await deps.db.tx((tx) => stayAlive(tx, reserved))
    if (state === undefined) return false
    if (!state.waits) return true
    if (performance.now() >= giveUpAt) return false
    await woken
  }
}

async function awaitPace(deps: SendDeps, { connection, ...reserved }: Reserved): Promise<boolean> {
  const paces = deps.pacesOf(connection)
  const { workspaceId, conversationId } = reserved
  const waitMs = await deps.db.statement((tx) => takePlace(tx, workspaceId, connection.id, conversationId, paces))
  const goAt = performance.now() + waitMs
  for (let leftMs = waitMs; leftMs > 0; leftMs = goAt - performance.now()) {
    if ((await deps.db.tx((tx) => stayAlive(tx, reserved))) === undefined) return false
    await sleep(Math.min(leftMs, aliveEveryMs))
  }
  return true
}

async function sendPart(deps: SendDeps, reserved: Reserved, part: number, message: Outgoing): Promise<PartOutcome> {
  const deadline = await deps.step('allow', () => allowedUntil(deps, reserved))
  if (deadline === null) {
    const isTakenOver = await ownerHasChanged(deps.db.sql, reserved)
    return isTakenOver ? { outcome: 'stopped', errorCode: 'owner_changed' } : notSent
  }
  const { connector, connection, recipient } = reserved
  const correlator = `${reserved.messageId}:${part}`
  return withinReason(deps, reserved, () => connector.send(connection, { recipient, message, correlator, deadline }))
}

/** The moment until which the call may start; null when it may not. */
async function allowedUntil(deps: SendDeps, dispatch: DispatchKey): Promise<Date | null> {
  for (;;) {
    // Taken before the database's mark is set, so that it runs out before the mark does, whatever clocks there are.
    const askedAt = performance.now()
    const start = await deps.db.statement((tx) => allowStart(tx, dispatch, takeoverWaitMs))
    if (start === 'refused') return null
    if (start === 'held') {
      await sleep(heldMs)
      continue
    }
    const leftMs = takeoverWaitMs - (performance.now() - askedAt)
    if (leftMs > takeoverWaitMs / 2) return new Date(deps.clock.now().getTime() + leftMs)
  }
}

async function withinReason(
  deps: SendDeps,
  { messageId }: Reserved,
  call: () => Promise<SendResult>,
): Promise<SendResult> {
  const unknown: SendResult = { outcome: 'unknown', errorCode: outcomeUnknown }
  const timer = new AbortController()
  const late = sleep(maxCallMs, unknown, { signal: timer.signal }).catch(() => unknown)
  try {
    return await Promise.race([call(), late])
  } catch (error) {
    deps.log.error('a connector failed', { messageId }, error)
    return unknown
  } finally {
    timer.abort()
  }
}

async function note(deps: SendDeps, reserved: Reserved, part: number, result: PartOutcome): Promise<void> {
  const keyring = await deps.vault.keyring(reserved.workspaceId)
  const externalId = result.outcome === 'accepted' ? result.externalId : null
  const { workspaceId, connection } = reserved
  const now = deps.clock.now()
  await deps.db.tx((tx) =>
    commitBehind(tx, () =>
      Promise.all([
        recordPart(tx, reserved, part, {
          verdict: verdicts[result.outcome],
          errorCode: errorCodeOf(result),
          externalIndex: externalId === null ? null : externalIndex(keyring, connection.id, externalId),
          externalId: externalId === null ? null : sealExternalId(keyring, reserved.messageId, externalId),
        }),
        externalId === null ? null : noteActivity(tx, workspaceId, connection.id, 'out', now),
      ]),
    ),
  )
}

const verdicts: Record<PartOutcome['outcome'], Verdict> = {
  accepted: 'accepted',
  refused: 'refused',
  unreachable: 'undelivered',
  unknown: 'undelivered',
  stopped: 'stopped',
}

// Whatever the connector calls it, an unknown outcome has the one name that a later status may overrule.
function errorCodeOf(result: PartOutcome): string | null {
  if (result.outcome === 'accepted') return null
  return result.outcome === 'unknown' ? outcomeUnknown : result.errorCode
}
