import { plain } from './typeahead.ts'

export interface CannedReply {
  id: string
  shortcut: string
  text: string
}

/** What `{{…}}` stands for. */
export interface Facts {
  contact: { name: string | null; phone: string | null }
  me: string
  workspace: string
}

const maxFound = 8

/** Those whose shortcut begins with the term, then those that hold it, then those whose text does. */
export function findReplies(replies: readonly CannedReply[], term: string): CannedReply[] {
  const wanted = plain(term)
  const rank = ({ shortcut, text }: CannedReply): number => {
    if (shortcut.startsWith(wanted)) return 0
    if (shortcut.includes(wanted)) return 1
    return plain(text).includes(wanted) ? 2 : 3
  }
  return replies
    .map((reply) => ({ reply, rank: rank(reply) }))
    .filter((one) => one.rank < 3)
    .sort((a, b) => a.rank - b.rank)
    .slice(0, maxFound)
    .map(({ reply }) => reply)
}

/** Fills `{{contact.name}}` and its kind. What is not known is left out, with the space before it. */
export function fillReply(text: string, { contact, me, workspace }: Facts): string {
  const name = contact.name?.trim() ?? ''
  const values: Record<string, string> = {
    'contact.name': name,
    'contact.first_name': name.split(/\s+/)[0] ?? '',
    'contact.phone': contact.phone ?? '',
    'me.name': me,
    'workspace.name': workspace,
  }
  return text.replace(/( ?)\{\{([^{}]*)\}\}/g, (whole, space: string, asked: string) => {
    const value = values[asked.trim()]
    if (value === undefined) return whole
    return value === '' ? '' : space + value
  })
}
