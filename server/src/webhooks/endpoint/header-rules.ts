import type { Issue } from '../../base/errors.ts'

export const maxHeaders = 20
const maxNameCharacters = 100
const maxValueCharacters = 1000
const token = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/
// Printable ASCII, and no space at the ends, which a receiver would not see.
const printable = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/

const taken = new Set([
  'host',
  'connection',
  'keep-alive',
  'transfer-encoding',
  'te',
  'trailer',
  'upgrade',
  'expect',
  'date',
  'user-agent',
])
const takenBeginnings = ['content-', 'webhook-', 'proxy-']

/** What is wrong with an endpoint's own headers, named by header; nothing of a value is repeated. */
export function headerIssues(headers: Readonly<Record<string, string>>): Issue[] {
  const names = Object.keys(headers)
  const seen = new Set<string>()
  const issues: Issue[] =
    names.length > maxHeaders ? [{ path: 'headers', message: `must be ${maxHeaders} headers at most` }] : []
  for (const [name, value] of Object.entries(headers)) {
    const path = `headers.${name.slice(0, maxNameCharacters)}`
    const lower = name.toLowerCase()
    const wrong = nameFault(name) ?? (seen.has(lower) ? 'is there twice: case makes no difference' : valueFault(value))
    if (wrong !== null) issues.push({ path, message: wrong })
    seen.add(lower)
  }
  return issues
}

function nameFault(name: string): string | null {
  if (name.length > maxNameCharacters) return `must have a name of ${maxNameCharacters} characters at most`
  if (!token.test(name)) return "must have a name of letters, digits and !#$%&'*+.^_`|~-"
  const lower = name.toLowerCase()
  const isTaken = taken.has(lower) || takenBeginnings.some((beginning) => lower.startsWith(beginning))
  return isTaken ? 'is set by the service: choose another name' : null
}

function valueFault(value: string): string | null {
  if (value.length > maxValueCharacters) return `must be ${maxValueCharacters} characters at most`
  return printable.test(value) ? null : 'must be printable ASCII without a space at either end, and not empty'
}
