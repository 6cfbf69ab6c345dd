import type { Connection } from '../../data/connections.ts'
import { language, t } from '../../text/index.ts'
import type { Tone } from '../../ui/Chip.tsx'
import { reasonText } from '../../ui/format/error-texts.ts'

type Stateful = Pick<Connection, 'state' | 'stateReason'>

export interface StateText {
  tone: Tone
  /** The state in a word or two. */
  label: string
  /** Why, in a sentence; null where the word says it all. */
  reason: string | null
}

// Nothing is wrong with these: somebody has yet to do their part, or the line comes back by itself.
const pendingStates: Record<string, Tone> = { never_paired: 'attention', pairing: 'accent', reconnecting: 'attention' }

export function stateText({ state, stateReason }: Stateful): StateText {
  const { states, onTheWay: words } = t.connections
  if (state === 'active') return { tone: 'good', label: states.active, reason: null }
  if (state === 'paused') return { tone: 'plain', label: states.paused, reason: null }
  const code = stateReason ?? 'unreachable'
  const tone = pendingStates[code]
  if (tone !== undefined) return { tone, label: words[code as keyof typeof words], reason: null }
  return { tone: 'bad', label: states.unavailable, reason: reasonText(code) }
}

/** Whether somebody should look: it cannot send, and not because that was wanted or nobody has linked it yet. */
export function isInTrouble({ state, stateReason }: Stateful): boolean {
  return state === 'unavailable' && !((stateReason ?? '') in pendingStates)
}

/** The number as people know it: a phone with its plus, the platform's id otherwise, null before a phone is linked. */
export function numberOf({
  channel,
  phone,
  numberId,
}: Pick<Connection, 'channel' | 'phone' | 'numberId'>): string | null {
  if (phone !== null) return `+${phone}`
  return channel === 'unofficial' ? null : numberId
}

/** Returns the advice on a reason or an error in the app's words; the server's English text for codes without one. */
export function adviceText({ code, text }: { code: string; text: string }): string {
  // The server's text also names the key.
  if (language === 'en' && code === 'agent_never_used') return text
  const own: Record<string, string> = t.connections.advice
  return own[code.replace(/^platform_error_/, '').replace(/^(account_violation)_.*$/, '$1')] ?? text
}

/** A template's body in pieces: text, and the places that are filled in. */
export function partsOf(body: string): { text: string; isPlace: boolean }[] {
  return body
    .split(/(\{\{\s*[\w.]+\s*\}\})/)
    .filter((text) => text !== '')
    .map((text) => ({ text, isPlace: text.startsWith('{{') }))
}
