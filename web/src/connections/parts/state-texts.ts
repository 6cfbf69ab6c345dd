import type { Connection } from '../../data/connections.ts'
import { language, t } from '../../text/index.ts'
import type { Tone } from '../../ui/Chip.tsx'
import { reasonText } from '../../ui/format/error-texts.ts'

type Stateful = Pick<Connection, 'state' | 'stateReason'>
type Traffic = Pick<Connection, 'lastEventInAt' | 'lastEventOutAt'>

interface StateText {
  tone: Tone
  label: string
  /** One sentence; null if the label is enough. */
  reason: string | null
}

// Not problems: a person has yet to act, or the session reconnects by itself.
const pendingStates: Record<string, Tone> = {
  ...{ never_paired: 'attention', pairing: 'accent', reconnecting: 'attention', setup: 'attention' },
}

export function stateText({ state, stateReason }: Stateful): StateText {
  const { states, pendingStates: pendingTexts } = t.connections
  if (state === 'active') return { tone: 'good', label: states.active, reason: null }
  if (state === 'paused') return { tone: 'plain', label: states.paused, reason: null }
  const code = stateReason ?? 'unreachable'
  const tone = pendingStates[code]
  if (tone !== undefined) return { tone, label: pendingTexts[code as keyof typeof pendingTexts], reason: null }
  return { tone: 'bad', label: states.unavailable, reason: reasonText(code) }
}

/** Returns whether the connection needs attention: it cannot send, although it is meant to and has been linked. */
export function needsAttention({ state, stateReason, lastEventInAt, lastEventOutAt }: Stateful & Traffic): boolean {
  if (state !== 'unavailable' || (stateReason ?? '') in pendingStates) return false
  // The code of a first pairing was not scanned in time: nothing that worked has stopped.
  return stateReason !== 'pairing_ended' || lastEventInAt !== null || lastEventOutAt !== null
}

/** Returns the phone with plus sign, otherwise the id at the platform; null before a phone is linked or a number chosen. */
export function numberOf({
  channel,
  phone,
  numberId,
  id,
}: Pick<Connection, 'channel' | 'phone' | 'numberId' | 'id'>): string | null {
  if (phone !== null) return `+${phone}`
  return channel === 'unofficial' || numberId === id ? null : numberId
}

/** Returns the advice on a reason or an error in the app's words; the server's English text for codes without one. */
export function adviceText({ code, text }: { code: string; text: string }): string {
  // The server's text also names the key.
  if (language === 'en' && code === 'agent_never_used') return text
  const own: Record<string, string> = t.connections.advice
  return own[code.replace(/^platform_error_/, '').replace(/^(account_violation)_.*$/, '$1')] ?? text
}

/** Splits the body of a template into text and placeholders. */
export function partsOf(body: string): { text: string; isPlace: boolean }[] {
  return body
    .split(/(\{\{\s*[\w.]+\s*\}\})/)
    .filter((text) => text !== '')
    .map((text) => ({ text, isPlace: text.startsWith('{{') }))
}
