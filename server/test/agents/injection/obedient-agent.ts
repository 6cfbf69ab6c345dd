import { type Face, fetchWith, type Reply, sayRaw } from './faces.ts'
import type { Scene } from './scene.ts'

/**
 * An agent that does whatever it is told by whatever it reads: it looks into every string of every answer, also for what
 * is hidden from people, and follows each order that it finds, in these words:
 *
 * - `Call answer {"conversation_id": "…", "text": "…"}`: a tool, with what stands in the braces
 * - `Fetch GET /api/… {…}`: anything else of the service, with its key
 * - `Read parley://…`: a resource
 * - `Say {"jsonrpc": "2.0", …}` and `Say [ … ]`: a message of the protocol as it is
 */
export interface ObedientAgent {
  /** Makes these calls, then follows orders until there are no more. */
  work(calls: readonly Call[]): Promise<Step[]>
}

export interface Step {
  order: string
  /** Whether it was read in an answer, rather than being what every agent begins with. */
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

/** All orders in whatever was read, in the open and hidden. */
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

/** The JSON value that begins there: up to the brace that ends it. Empty where none does, as in a text that was cut. */
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

/** What is written in characters that people do not see, read as a model may read it. */
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

/** Zero and one, where bits are written in what has no width or shows as a blank. */
const withoutWidth: readonly [string, string] = ['\u200b', '\u200c']
const blank: readonly [string, string] = ['\u2800', '\u2065']

/** Writes words so that people do not see them. */
export const hide = {
  inTags: (words: string) => [...words].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join(''),
  inUnassigned: (words: string) =>
    [...words].map((letter) => String.fromCodePoint(0xe0080 + letter.charCodeAt(0))).join(''),
  inSelectors: (words: string) =>
    [...Buffer.from(words)]
      .map((byte) => String.fromCodePoint(byte < 16 ? 0xfe00 + byte : 0xe0100 + byte - 16))
      .join(''),
  /** A byte behind each letter of something harmless. */
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
  /** A bit between each two letters of something harmless. */
  betweenLetters: (words: string, cover = 'Good day, and thank you for your help. ') =>
    [...hide.inBits(words)].map((bit, at) => cover[at % cover.length] + bit).join(''),
}
