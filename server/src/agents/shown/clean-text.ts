/** What people wrote, as models are shown it. */
export interface CleanText {
  text: string
  /** Something was left out that no person sees: it may have been meant for a model alone. */
  hadHiddenText: boolean
}

/**
 * Leaves out what no person sees and a model reads all the same: control characters but for line ends and tabs, tag
 * characters, what turns the direction of writing, and runs of characters without width. A single one of these stays, for
 * Persian words and joined emoji are written with it.
 */
export function cleanText(text: string): CleanText {
  if (plain.test(text)) return { text, hadHiddenText: false }
  const lines = text.toWellFormed().replace(lineEnds, '\n')
  const shown = lines.replace(hidden, '').replace(runs, (run) => (run === joinedEmoji ? run : firstOf(run)))
  return { text: shown, hadHiddenText: shown !== lines }
}

const firstOf = (run: string): string => String.fromCodePoint(run.codePointAt(0) ?? 0)

// The backslash forms are of code points that show nowhere, or change how this file itself would be read.
const plain = /^[\t\n -~]*$/
const lineEnds = /\r\n?/g
/** An emoji in colour, joined to the next one. */
const joinedEmoji = '\ufe0f\u200d'

const controls = '\\0-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f'
const directions = '\\u202a-\\u202e\\u2066-\\u2069'
const annotations = '\\ufff9-\\ufffb'
const tags = '\\u{e0000}-\\u{e007f}'
const hidden = new RegExp(`[${controls}${directions}${annotations}${tags}]+`, 'gu')

const withoutWidth =
  '\\xad\\u034f\\u061c\\u115f\\u1160\\u180b-\\u180f\\u200b-\\u200f\\u2060-\\u2064\\u206a-\\u206f\\u3164\\ufeff\\uffa0'
const variations = '\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}'
const runs = new RegExp(`[${withoutWidth}${variations}]{2,}`, 'gu')
