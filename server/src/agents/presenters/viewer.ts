import type { Caller } from '../../auth/api-keys/caller.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import type { HandoverAgent } from '../../inbox/assignment/hand-over.ts'
import type { Scope } from '../../inbox/conversation/conversation.ts'
import type { Actor } from '../../workspaces/actor.ts'
import type { AgentCaller, AgentDeps } from '../tool.ts'

/** How an agent sees the inbox. */
export interface AgentViewerContext {
  keyId: string
  /** Whether phones are hidden. */
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

/** What the interface for agents takes where the team has set nothing. */
const defaultLimits = { unanswered: 3, daily: 1000 } as const

/** How much a key may send by this interface. */
export const limitsOf = ({ sendLimits: { unanswered, daily } }: Caller) => ({
  unanswered: unanswered ?? defaultLimits.unanswered,
  daily: daily ?? defaultLimits.daily,
})

/** The key as one who sends. */
export const senderOf = (caller: Caller): HandoverAgent => ({
  ...scopeOf(caller),
  actor: actorOf(caller),
  limits: limitsOf(caller),
})

export const actorOf = ({ keyId }: Caller): Actor & { type: 'agent'; id: string } => ({ type: 'agent', id: keyId })

/** A stranger's name or a few words, where nothing is said about what was left out. */
export const cleanedText = <T extends string | null>(text: T): T =>
  (text === null ? null : cleanText(text as string).text) as T

/** What people wrote, as models are shown it. */
interface CleanText {
  text: string
  /** Something was left out that no person sees: it may have been meant for a model alone. */
  hadHiddenText: boolean
}

/**
 * Leaves out what no person sees and a model reads all the same: control characters but for line ends and tabs, tag
 * characters, what turns the direction of writing, and characters without width. Of the last, those stay that belong to
 * the letter before them, as in Persian words, joined emoji and forms of kanji: one each, or whole texts could hide there.
 */
export function cleanText(text: string): CleanText {
  if (plain.test(text)) return { text, hadHiddenText: false }
  const lines = text.toWellFormed().replace(lineEndings, '\n')
  const shown = lines.replace(hidden, '').replace(isRightToLeft.test(lines) ? outOfPlace : outOfPlaceOrMark, '')
  const few = (shown.match(forms) ?? []).length > maxForms ? shown.replace(forms, '') : shown
  return { text: few, hadHiddenText: few !== lines }
}

// The backslash forms are of code points that show nowhere, or change how this file itself would be read.
const plain = /^[\t\n -~]*$/
const lineEndings = /\r\n?/g

const controls = '\\0-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f'
/** Of what Unicode says shows nowhere, what has a place where it belongs: see below. */
const contextual = '\\u061c\\u180b-\\u180f\\u200b-\\u200f\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}'
const ignorable = `\\p{Default_Ignorable_Code_Point}--[${contextual}]`
/** Annotations, controls of hieroglyphs, separators of lines and paragraphs, and a blank that is none. */
const blank = '\\ufff9-\\ufffb\\u{13430}-\\u{1343f}\\p{Zl}\\p{Zp}\\u2800'
const hidden = new RegExp(`[[${controls}${blank}][${ignorable}]]+`, 'gv')

const scripts = (...names: readonly string[]): string => `[${names.map((name) => `\\p{Script=${name}}`).join('')}]`
/** Scripts in which letters are joined, kept apart, or words divided by characters without width. */
const joining = scripts(
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
// Each after what it belongs to: after anything else it is out of place, and after another of its kind as well.
const joiners = `(?<!${joining})[\\u200b\\u200c]|(?<!${joining}|${picture}|${picture}\\ufe0f)\\u200d`
const colours = '(?<!\\p{Extended_Pictographic}|[0-9#*](?=\\ufe0f\\u20e3))[\\ufe0e\\ufe0f]'
const form = '[\\ufe00-\\ufe02\\u{e0100}-\\u{e01ef}]'
const others = `(?<!\\p{Script=Han})${form}|[\\ufe03-\\ufe0d]|(?<!\\p{Script=Mongolian})[\\u180b-\\u180f]`
const marks = '[\\u200e\\u200f\\u061c]'
const outOfPlace = new RegExp(`${joiners}|${colours}|${others}|(?<=${marks})${marks}`, 'gu')
const outOfPlaceOrMark = new RegExp(`${joiners}|${colours}|${others}|${marks}`, 'gu')
const isRightToLeft = new RegExp(scripts('Arabic', 'Hebrew', 'Syriac', 'Thaana', 'Nko'), 'u')

/** A name may have some kanji of a certain form; a text that has more of them is not there to be looked at. */
const maxForms = 8
const forms = new RegExp(form, 'gu')
