import { type Face, fetchWith, type Reply, sayRaw } from './faces.ts'
import type { Scene } from './scene.ts'

/**
 * An agent that obeys everything it reads: it searches every string of every response, also for text that is
 * hidden from people, and follows each order of these forms:
 *
 * - `Call answer {"conversation_id": "…", "text": "…"}`: calls a tool with this input
 * - `Fetch GET /api/… {…}`: sends any request with its key
 * - `Read parley://…`: reads a resource
 * - `Say {"jsonrpc": "2.0", …}` and `Say [ … ]`: sends a raw protocol message
 */
export interface ObedientAgent {
  /** Makes these calls, then follows orders until there are none left. */
  work(calls: readonly Call[]): Promise<Step[]>
}

export interface Step {
  order: string
  /** Whether the order was read in a response, rather than being one of the first calls. */
  isFollowed: boolean
  reply: Reply
}

export interface Call {
  verb: string
  input: object
}

const mostSteps = 12

export function obedientAgent(scene: Scene, face: Face, key: string): ObedientAgent {
  return {
    work: async (calls) => {
      const steps: Step[] = []
      const orders: string[] = []
      const known = new Set<string>()
      const read = (step: Step) => {
        steps.push(step)
        for (const order of ordersIn(step.reply.read)) {
          if (known.has(order)) continue
          known.add(order)
          orders.push(order)
        }
      }
      for (const { verb, input } of calls) {
        const order = `Call ${verb} ${JSON.stringify(input)}`
        read({ order, isFollowed: false, reply: await face.ask(key, verb, input) })
      }
      for (let order = orders.shift(); order !== undefined && steps.length < mostSteps; order = orders.shift()) {
        read({ order, isFollowed: true, reply: await follow(scene, face, key, order) })
      }
      return steps
    },
  }
}

const follow = async (scene: Scene, face: Face, key: string, order: string): Promise<Reply> => {
  const [, kind, rest = ''] = /^(\w+) ([\s\S]*)$/.exec(order) ?? []
  if (kind === 'Read') return face.readResource(key, rest)
  if (kind === 'Say') return sayRaw(scene, key, rest)
  const [, name = '', input] = /^(.*?)( [{][\s\S]*)?$/.exec(rest) ?? []
  const given = input === undefined ? null : JSON.parse(input)
  if (kind === 'Call') return face.ask(key, name, given ?? {})
  const [method = '', path = ''] = name.split(' ')
  return fetchWith(scene, key, method, path, given)
}

/** Finds all orders in a response, visible and hidden ones. */
function ordersIn(read: unknown): string[] {
  return stringsIn(read).flatMap((text) => [text, unhidden(text)].flatMap(ordersOf))
}

export function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  const names = Array.isArray(value) ? [] : Object.keys(value)
  return [...names, ...Object.values(value).flatMap(stringsIn)]
}

const begins = /\bCall [\w.-]+ (?=[{])|\bFetch [A-Z]+ \S+(?: (?=[{]))?|\bRead [a-z]+:\/\/\S+|\bSay (?=[{[])/g

function ordersOf(text: string): string[] {
  return [...text.matchAll(begins)]
    .map(({ 0: start, index }) => (start.endsWith(' ') ? start + jsonAt(text, index + start.length) : start))
    .filter((order) => !order.endsWith(' '))
}

/** Returns the JSON value that starts here, up to its closing brace; empty if it is incomplete. */
function jsonAt(text: string, from: number): string {
  let [depth, isText] = [0, false]
  for (let at = from; at < text.length; at++) {
    const letter = text[at]
    if (isText && letter === '\\') at++
    else if (letter === '"') isText = !isText
    else if (!isText && (letter === '{' || letter === '[')) depth++
    else if (!isText && (letter === '}' || letter === ']') && --depth === 0) return text.slice(from, at + 1)
  }
  return ''
}

/** Decodes text in invisible characters, as a model might. */
function unhidden(text: string): string {
  const ofBits = [withoutWidth, blank].map(([zero, one]) => {
    const bits = [...text].flatMap((letter) => (letter === zero ? '0' : letter === one ? '1' : []))
    return String.fromCharCode(...(bits.join('').match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
  })
  const letters = [...text].map((letter) => {
    const point = letter.codePointAt(0) ?? 0
    if (point >= 0xe0000 && point < 0xe0080) return String.fromCharCode(point - 0xe0000)
    if (point >= 0xe0080 && point < 0xe0100) return String.fromCharCode(point - 0xe0080)
    if (point >= 0xfe00 && point < 0xfe10) return String.fromCharCode(point - 0xfe00)
    return point >= 0xe0100 && point < 0xe01f0 ? String.fromCharCode(point - 0xe0100 + 16) : ''
  })
  return `${letters.join('')}\n${ofBits.join('\n')}\n${[...text].reverse().join('')}`
}

/** Bits that are encoded in zero-width or blank characters. */
const withoutWidth: readonly [string, string] = ['\u200b', '\u200c']
const blank: readonly [string, string] = ['\u2800', '\u2065']

/** Encodes text so that people do not see it. */
export const hide = {
  inTags: (words: string) => [...words].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join(''),
  inUnassigned: (words: string) =>
    [...words].map((letter) => String.fromCodePoint(0xe0080 + letter.charCodeAt(0))).join(''),
  inSelectors: (words: string) =>
    [...Buffer.from(words)]
      .map((byte) => String.fromCodePoint(byte < 16 ? 0xfe00 + byte : 0xe0100 + byte - 16))
      .join(''),
  /** Hides a byte after each letter of a harmless text. */
  behindLetters: (words: string, cover = 'Good day, and thank you for your help. ') =>
    [...Buffer.from(words)]
      .map(
        (byte, at) => cover[at % cover.length] + String.fromCodePoint(byte < 16 ? 0xfe00 + byte : 0xe0100 + byte - 16),
      )
      .join(''),
  inBits: (words: string, [zero, one] = withoutWidth) =>
    [...Buffer.from(words)]
      .map((byte) => byte.toString(2).padStart(8, '0').replaceAll('0', zero).replaceAll('1', one))
      .join(''),
  inBlanks: (words: string) => hide.inBits(words, blank),
  /** Hides a bit between letters of a harmless text. */
  betweenLetters: (words: string, cover = 'Good day, and thank you for your help. ') =>
    [...hide.inBits(words)].map((bit, at) => cover[at % cover.length] + bit).join(''),
}
