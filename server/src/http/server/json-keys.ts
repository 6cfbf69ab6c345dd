import { joinPath } from '../../base/validation.ts'

// Both functions read JSON that is known to be valid, which lets them look at brackets, colons and quotes alone.
const quote = 0x22
const backslash = 0x5c
const colon = 0x3a
const space = 0x20

/** The keys of all objects in the text, repeated ones included. */
export function countKeys(text: string): number {
  let keys = 0
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (char === quote) at = endOfString(text, at)
    else if (char === colon) keys++
  }
  return keys
}

/** The path of the first key that stands twice in one object. */
export function findDuplicate(text: string): string {
  const open: { keys: Set<string> | null; step: string }[] = []
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    const inner = open.at(-1)
    if (char === '{') open.push({ keys: new Set(), step: '' })
    else if (char === '[') open.push({ keys: null, step: '0' })
    else if (char === '}' || char === ']') open.pop()
    else if (char === ',' && inner?.keys === null) inner.step = String(Number(inner.step) + 1)
    else if (char === '"') {
      const end = endOfString(text, at)
      if (inner?.keys && isKey(text, end)) {
        inner.step = JSON.parse(text.slice(at, end + 1))
        if (inner.keys.has(inner.step)) return open.map((level) => level.step).reduce(joinPath, '')
        inner.keys.add(inner.step)
      }
      at = end
    }
  }
  return ''
}

function isKey(text: string, endOfString: number): boolean {
  let at = endOfString + 1
  while (text.charCodeAt(at) <= space) at++
  return text.charCodeAt(at) === colon
}

function endOfString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text.charCodeAt(at) !== quote) at += text.charCodeAt(at) === backslash ? 2 : 1
  return at
}
