import { approvalOf, type Caller } from '../../auth/api-keys/caller.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import type { HandoverAgent } from '../../inbox/assignment/hand-over.ts'
import type { Scope } from '../../inbox/conversation/conversation.ts'
import type { Actor } from '../../workspaces/actor.ts'
import type { AgentCaller, AgentDeps } from '../define-tool.ts'
import { defaultQuietSeconds } from '../work/quiet-time.ts'

/** Facts about the key that decide what a presenter shows. */
export interface AgentViewerContext {
  keyId: string
  masked: boolean
  now: Date
  keyring: Keyring
}

export async function readViewerContext(
  { inbox: { keyStore, clock } }: AgentDeps,
  caller: AgentCaller,
): Promise<AgentViewerContext> {
  const keyring = await keyStore.keyring(caller.workspaceId)
  return { keyId: caller.keyId, masked: caller.phoneVisibility === 'masked', now: clock.now(), keyring }
}

export const scopeOf = ({ workspaceId, connectionIds }: Caller): Scope => ({ workspaceId, connectionIds })

/** Send limits of the agent API where the team has set none. */
const defaultLimits = { unanswered: 3, daily: 1000 } as const

/** Returns how many messages a key may send through the agent API. */
export const limitsOf = ({ sendLimits: { unanswered, daily } }: Caller) => ({
  unanswered: unanswered ?? defaultLimits.unanswered,
  daily: daily ?? defaultLimits.daily,
})

export const agentSettingsOf = ({ agentSettings: { quietSeconds, maxParts } }: Caller) => ({
  quietSeconds: quietSeconds ?? defaultQuietSeconds,
  maxParts,
})

export const senderOf = (caller: Caller): HandoverAgent => ({
  ...scopeOf(caller),
  actor: actorOf(caller),
  limits: limitsOf(caller),
  maxParts: agentSettingsOf(caller).maxParts,
  ...approvalOf(caller),
})

export const actorOf = ({ keyId }: Caller): Actor & { type: 'agent'; id: string } => ({ type: 'agent', id: keyId })

/** Cleans a name or a short text, without reporting whether anything was removed. */
export const cleanedText = <T extends string | null>(text: T): T =>
  (text === null ? null : cleanText(text as string).text) as T

/** Text of people, prepared for a model. */
interface CleanText {
  text: string
  /** Characters that people do not see were removed: they may have been meant for the model alone. */
  hadHiddenText: boolean
}

/**
 * Removes characters that people do not see but a model reads: control characters except line breaks and tabs, tag
 * characters, direction controls, and zero-width characters. Keeps a zero-width character that belongs to the character
 * before it, as in Persian words, joined emoji and variants of kanji, but only one each: more could hide whole texts.
 */
export function cleanText(text: string): CleanText {
  if (plain.test(text)) return { text, hadHiddenText: false }
  const lines = text.toWellFormed().replace(lineEndings, '\n')
  const placed = lines.replace(hidden, '').replace(outOfPlace, '')
  // What stood between two of them is gone by now.
  const shown = placed.replace(isRightToLeft.test(placed) ? repeatedMark : mark, '')
  const few = (shown.match(forms) ?? []).length > maxForms ? shown.replace(forms, '') : shown
  return { text: few, hadHiddenText: few !== lines }
}

// Escapes are used for code points that are invisible or change how this file itself is displayed.
const plain = /^[\t\n -~]*$/
const lineEndings = /\r\n?/g

const controls = '\\0-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f'
/** Default-ignorable characters that are valid in some contexts, which the patterns below check. */
const contextual = '\\u061c\\u180b-\\u180f\\u200b-\\u200f\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}'
const ignorable = `\\p{Default_Ignorable_Code_Point}--[${contextual}]`
/** Annotations, hieroglyph controls, line and paragraph separators, and a blank Braille pattern. */
const blank = '\\ufff9-\\ufffb\\u{13430}-\\u{1343f}\\p{Zl}\\p{Zp}\\u2800'
const hidden = new RegExp(`[[${controls}${blank}][${ignorable}]]+`, 'gv')

const scripts = (...names: readonly string[]): string => `[${names.map((name) => `\\p{Script=${name}}`).join('')}]`
// Some of those characters are of a script themselves, and would vouch for the next one.
const shownOf = (...names: readonly string[]): string => `[${scripts(...names)}--[${contextual}]]`
/** Shown characters of scripts in which zero-width characters join letters, keep them apart or divide words. */
const joining = shownOf(
  ...[
    'Arabic',
    'Syriac',
    'Nko',
    'Mongolian',
    'Devanagari',
    'Bengali',
    'Gurmukhi',
    'Gujarati',
    'Oriya',
    'Tamil',
    'Telugu',
  ],
  ...['Kannada', 'Malayalam', 'Sinhala', 'Khmer', 'Myanmar', 'Thai', 'Lao', 'Tibetan'],
)
const picture = '[\\p{Extended_Pictographic}\\p{Emoji_Modifier}]'
// Each pattern matches after anything but the character that it belongs to, and so also after another of its kind.
const joiners = `(?<!${joining})[\\u200b\\u200c]|(?<!${joining}|${picture}|${picture}\\ufe0f)\\u200d`
const colours = '(?<!\\p{Extended_Pictographic}|[0-9#*](?=\\ufe0f\\u20e3))[\\ufe0e\\ufe0f]'
const form = '[\\ufe00-\\ufe02\\u{e0100}-\\u{e01ef}]'
const others = `(?<!\\p{Script=Han})${form}|[\\ufe03-\\ufe0d]|(?<!${shownOf('Mongolian')})[\\u180b-\\u180f]`
const outOfPlace = new RegExp(`${joiners}|${colours}|${others}`, 'gv')
const mark = /[\u200e\u200f\u061c]/gu
/** A mark of direction behind a joiner or another mark. */
const repeatedMark = /(?<=[\u200b-\u200f\u061c])[\u200e\u200f\u061c]/gu
const isRightToLeft = new RegExp(scripts('Arabic', 'Hebrew', 'Syriac', 'Thaana', 'Nko'), 'u')

/** A name can have a few kanji variants; a text with more than these likely hides data in them. */
const maxForms = 8
const forms = new RegExp(form, 'gu')
