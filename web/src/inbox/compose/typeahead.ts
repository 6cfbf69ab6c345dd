import type { CannedReply } from '../../data/canned-replies.ts'
import type { Member } from '../../data/team/members.ts'
import { foldText } from '../../ui/format/fold-text.ts'

/** The word before the caret after `/` or `@`. */
export interface TypeaheadQuery {
  sign: '/' | '@'
  term: string
  /** Position of the sign. */
  start: number
}

const maxTerm = 40

/** Finds a word such as `/hou` or `@an` before the caret, at the start of a line or after a space. */
export function findTypeahead(text: string, caret: number, sign: TypeaheadQuery['sign']): TypeaheadQuery | null {
  const before = text.slice(0, caret)
  const start = before.lastIndexOf(sign)
  if (start === -1) return null
  const term = before.slice(start + 1)
  const isWordStart = start === 0 || /\s/.test(before.charAt(start - 1))
  if (!isWordStart || term.length > maxTerm || /[\s/@]/.test(term)) return null
  return { sign, term, start }
}

/**
 * Returns whether the list is open: if there are matches, after the sign alone, or if the whole text is such a word,
 * which nobody means to send. Elsewhere a sign without matches is plain text, as in 24/7.
 */
export const isTypeaheadOpen = (text: string, { sign, term }: TypeaheadQuery, found: number): boolean =>
  found > 0 || term === '' || (sign === '/' && text.trim() === sign + term)

/** Replaces the word; returns the text and the caret position. */
export function insertSuggestion(
  text: string,
  caret: number,
  { start }: TypeaheadQuery,
  words: string,
): { text: string; caret: number } {
  const rest = text.slice(caret)
  const gap = rest === '' || /^\s/.test(rest) || /\s$/.test(words) ? '' : ' '
  const before = text.slice(0, start) + words + gap
  return { text: before + rest, caret: before.length }
}

type SavedReply = Pick<CannedReply, 'id' | 'shortcut' | 'text'>
type Colleague = Pick<Member, 'userId' | 'name'>

/** Values for `{{…}}`. */
interface ReplyVariables {
  contact: { name: string | null; phone: string | null }
  me: string
  workspace: string
}

const maxResults = 8

/** Returns saved replies that match a term: by start of the shortcut, then in the shortcut, then in the text. */
export function findReplies(replies: readonly SavedReply[], term: string): SavedReply[] {
  const needle = foldText(term)
  const rank = ({ shortcut, text }: SavedReply): number => {
    if (shortcut.startsWith(needle)) return 0
    if (shortcut.includes(needle)) return 1
    return foldText(text).includes(needle) ? 2 : 3
  }
  return replies
    .map((reply) => ({ reply, rank: rank(reply) }))
    .filter((one) => one.rank < 3)
    .sort((a, b) => a.rank - b.rank)
    .slice(0, maxResults)
    .map(({ reply }) => reply)
}

/** Replaces `{{contact.name}}` and other placeholders. An unknown value is removed with the space before it. */
export function renderReply(text: string, { contact, me, workspace }: ReplyVariables): string {
  const name = contact.name?.trim() ?? ''
  const values: Record<string, string> = {
    'contact.name': name,
    'contact.first_name': name.split(/\s+/)[0] ?? '',
    'contact.phone': contact.phone ?? '',
    'me.name': me,
    'workspace.name': workspace,
  }
  return text.replace(/( ?)\{\{([^{}]*)\}\}/g, (whole, space: string, query: string) => {
    const value = values[query.trim()]
    if (value === undefined) return whole
    return value === '' ? '' : space + value
  })
}

/** Returns members with a word in their name that starts with the term. */
export function findMembers(members: readonly Colleague[], term: string): Colleague[] {
  const needle = foldText(term)
  return members
    .filter(({ name }) =>
      foldText(name)
        .split(/\s+/)
        .some((word) => word.startsWith(needle)),
    )
    .slice(0, maxResults)
}

/** Returns members mentioned by `@` and their full name. If one name starts with another, the longer one wins. */
export function findMentions(text: string, members: readonly Colleague[]): string[] {
  const byLength = [...members].sort((a, b) => b.name.length - a.name.length)
  const found = new Set<string>()
  for (let at = text.indexOf('@'); at !== -1; at = text.indexOf('@', at + 1)) {
    const rest = text.slice(at + 1)
    const named = byLength.find(({ name }) => rest.startsWith(name) && !/^[\p{L}\p{N}]/u.test(rest.slice(name.length)))
    if (named === undefined) continue
    for (const { userId, name } of members) if (name === named.name) found.add(userId)
  }
  return [...found]
}
