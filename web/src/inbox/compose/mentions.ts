import { plain } from './typeahead.ts'

export interface Member {
  userId: string
  name: string
}

const maxFound = 8

/** Members of whose name a word begins with the term. */
export function findMembers(members: readonly Member[], term: string): Member[] {
  const wanted = plain(term)
  return members
    .filter(({ name }) =>
      plain(name)
        .split(/\s+/)
        .some((word) => word.startsWith(wanted)),
    )
    .slice(0, maxFound)
}

/** Whom a note names by `@` and the whole name. Of two names of which one begins the other, the longer counts. */
export function mentionedIn(text: string, members: readonly Member[]): string[] {
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
