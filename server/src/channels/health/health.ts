import type { StoredConnection } from '../connection/connection.ts'
import { acknowledgedUntil, needsAcknowledgement } from './acknowledgement.ts'
import { noteEveryMs } from './activity.ts'
import { adviceOn } from './advice.ts'
import { holdsOf } from './availability.ts'
import { activeHolds } from './holds.ts'

export interface Advice {
  code: string
  text: string
}

/** The sends that a platform which tells nothing is judged by: so many of them, each so long ago. */
export const silentSends = 3
export const silentMs = 30 * 60_000

/** Since when nothing has arrived for a connection, not even a status of what it sent. */
export function silentSince({ lastEventInAt, createdAt }: StoredConnection): Date {
  // The note of it may be that old.
  return lastEventInAt === null ? createdAt : new Date(lastEventInAt.getTime() + noteEveryMs)
}

/**
 * What its team should do about a connection, the most urgent first. `isSilent`: messages go out and nothing arrives.
 * `unusedAgent`: the name of the key that gets new conversations, when nobody has ever come in with it.
 */
export function adviseOn(
  one: StoredConnection,
  isSilent: boolean,
  unusedAgent: string | null,
  webhookUrl: string | null,
  now: Date,
): Advice[] {
  const codes: string[] = []
  if (one.state === 'paused') codes.push('paused')
  if (one.state === 'unavailable') codes.push(one.stateReason ?? 'unreachable')
  for (const { reason } of activeHolds(holdsOf(one), now)) if (!codes.includes(reason)) codes.push(reason)
  if (needsAcknowledgement(one, now) && isPaired(one)) codes.push('acknowledgement_required')
  const advice = codes.map((code) => ({ code, text: adviceOn(code, one.channel) }))
  if (isSilent) advice.push({ code: 'nothing_arrives', text: silenceText(one, webhookUrl) })
  if (unusedAgent !== null) advice.push({ code: unusedAgentCode, text: unusedText(unusedAgent) })
  return advice
}

export const unusedAgentCode = 'agent_never_used'

const unusedText = (name: string) =>
  `New conversations go to the key "${name}", which has never been used: nobody answers them. Start its agent, or change on the page of API keys which key answers new conversations.`

// Before a phone is linked there is nothing to confirm: a pairing would void it.
const isPaired = (one: StoredConnection) => one.numberId !== one.id || acknowledgedUntil(one) !== null

function silenceText({ channel }: StoredConnection, webhookUrl: string | null): string {
  if (channel === 'unofficial' || webhookUrl === null) {
    return 'Messages go out, but the network tells nothing of them. Look whether the phone is on and still lists this device.'
  }
  const who = channel === 'partner' ? 'partner' : 'platform'
  return `Messages go out, but the ${who} tells nothing, not even of these. Look there whether the webhook address is ${webhookUrl}, whether messages are subscribed, and whether that address is reached from the internet.`
}
