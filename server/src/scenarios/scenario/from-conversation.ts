import { foldText } from '../../base/text/search-text.ts'
import type { ConversationState } from '../run/sandbox-state.ts'
import { maxSteps, type Scenario, type Step } from './scenario-schema.ts'

type Item = ConversationState['items'][number]

/** What is known of the customer, whose names are replaced. */
export interface ConversationSource extends ConversationState {
  lead: { firstName: string | null; lastName: string | null; status: string } | null
  /** Names of people and of the customer's profile. */
  names: readonly (string | null)[]
}

const maxText = 4000
const longPauseMs = 10 * 60_000
const longPauseSeconds = 5
const maxSecondsBetween = 5

const sendable = ['image', 'video', 'audio', 'voice', 'document', 'sticker', 'location', 'contacts'] as const
type Sendable = (typeof sendable)[number]

/**
 * Returns a scenario that plays a conversation: its customer's messages in order, with samples in place of files and
 * short pauses, and what people did. Personal data is replaced by invented data, the same everywhere. A person has to
 * read it: no pattern finds everything.
 */
export function makeScenario(source: ConversationSource, name: string): Scenario {
  const { lead, names, items } = source
  const replace = createReplacer([lead?.firstName, lead?.lastName, ...names])
  const script = stepsOf(items, replace).slice(0, maxSteps)
  const handedOver = items.some(
    ({ activity }) => activity?.kind === 'owner' && activity.to === 'human' && activity.actor.type === 'agent',
  )
  return {
    name,
    title: 'Made of a conversation',
    about: 'Read it, and remove what could identify someone, before you save it.',
    ...(lead !== null && {
      start: {
        customer: 'Vera Sampaio',
        lead: { firstName: 'Vera', lastName: 'Sampaio', status: lead.status },
      },
    }),
    script: script.length > 0 ? script : ['Hello'],
    expect: handedOver ? { handedOver: true } : { answers: true, messages: { atMost: 3 } },
  }
}

/** Messages of the customer without an answer in between. */
interface Burst {
  texts: string[]
  startedMs: number
  endedMs: number
}

function stepsOf(items: readonly Item[], replace: Replacer): Step[] {
  const steps: Step[] = []
  let burst: Burst | null = null
  let lastMs: number | null = null
  const flush = () => {
    if (burst !== null) steps.push(stepOf(burst))
    burst = null
  }
  for (const item of items) {
    const atMs = new Date(item.at).getTime()
    const { message, activity } = item
    if (message?.direction === 'inbound') {
      if (burst === null && lastMs !== null && atMs - lastMs > longPauseMs) steps.push({ pause: longPauseSeconds })
      lastMs = atMs
      const kind = sendable.find((one) => one === message.kind)
      const text = replace(message.text).slice(0, maxText).toWellFormed()
      if (kind !== undefined) {
        flush()
        steps.push(sentStep(kind, text))
      } else if (text.trim() !== '') {
        burst ??= { texts: [], startedMs: atMs, endedMs: atMs }
        burst.texts.push(text)
        burst.endedMs = atMs
        if (burst.texts.length === 10) flush()
      }
    } else if (message !== undefined) {
      flush()
      lastMs = atMs
    } else if (activity?.kind === 'owner' && (activity.actor.type === 'user' || activity.actor.type === 'token')) {
      flush()
      steps.push({ team: activity.to === 'human' ? 'takes_over' : 'hands_back' })
    }
  }
  flush()
  return steps
}

const isCaptioned = (kind: Sendable): boolean => ['image', 'video', 'document'].includes(kind)

const sentStep = (kind: Sendable, text: string): Step =>
  isCaptioned(kind) && text.trim() !== '' ? { send: kind, caption: text.slice(0, 1000).toWellFormed() } : { send: kind }

function stepOf({ texts, startedMs, endedMs }: Burst): Step {
  const [only = ''] = texts
  if (texts.length === 1) return only
  const average = (endedMs - startedMs) / 1000 / (texts.length - 1)
  const secondsBetween = Math.round(Math.min(maxSecondsBetween, average) * 10) / 10
  return { customer: texts, ...(secondsBetween > 0 && { secondsBetween }) }
}

/** Longest text that is searched, in characters. */
const maxSearched = 16_384

// Bounded repetitions: customers write these texts.
const patterns = {
  url: /https?:\/\/[^\s<>"]{1,500}/giu,
  email: /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}/gu,
  street:
    /(?<![\p{L}\p{M}])(?:rua|avenida|av\.|travessa|alameda|pra[cç]a|calle|carrera|camino)(?:\s{1,3}[\p{L}\d.'’-]{1,30}){1,4}(?:,?\s{0,3}n?[.ºo°]{0,2}\s?\d{1,6})?|(?<!\d)\d{1,6}(?:\s{1,3}[\p{L}.'’-]{1,30}){1,3}\s{1,3}(?:street|road|avenue|lane|square)(?![\p{L}])/giu,
  number: /(?<!\d)\+?\d(?:[\s()./-]{0,2}\d){3,25}/gu,
  word: /[\p{L}\p{M}]{2,60}/gu,
} as const

const inventedNames = ['Vera', 'Sampaio', 'Nina', 'Rocha', 'Hugo', 'Pires', 'Clara', 'Matos', 'Ivo', 'Serra'] as const

/** Replaces the same value by the same invented one, in all texts of a scenario. */
type Replacer = (text: string) => string

/**
 * Returns a function that replaces web and e-mail addresses, streets, numbers of four or more digits, and the names.
 * A name is replaced where one of its words stands, whatever its case and accents.
 */
export function createReplacer(names: readonly (string | null | undefined)[]): Replacer {
  const replaced = new Map<string, string>()
  const counts = new Map<string, number>()
  const invented = (kind: string, value: string, make: (n: number) => string): string => {
    const key = `${kind} ${foldText(value)}`
    const known = replaced.get(key)
    if (known !== undefined) return known
    const n = (counts.get(kind) ?? 0) + 1
    counts.set(kind, n)
    const next = make(n)
    replaced.set(key, next)
    return next
  }
  const parts = names.flatMap((name) => name?.slice(0, 200).match(patterns.word) ?? [])
  const nameWords = new Set(parts.map(foldText))
  const nameAt = (n: number) => inventedNames[(n - 1) % inventedNames.length] ?? 'Vera'
  // In this order from the first on: the names of the customer become those of the invented one.
  for (const word of parts) invented('name', word, nameAt)
  return (text) =>
    text
      .slice(0, maxSearched)
      .replaceAll(patterns.url, (found) => invented('url', found, (n) => `https://example.com/${n}`))
      .replaceAll(patterns.email, (found) => invented('email', found, (n) => `person${n}@example.com`))
      .replaceAll(patterns.street, (found) => invented('street', found, (n) => `Rua das Flores, ${n}`))
      .replaceAll(patterns.number, (found) => {
        // What was put in before stays: it has fewer digits.
        const digits = found.replaceAll(/\D/g, '')
        return invented('number', digits, (n) => digitsLike(found, n))
      })
      .replaceAll(patterns.word, (found) => (nameWords.has(foldText(found)) ? invented('name', found, nameAt) : found))
}

/** Returns a number of the same form: a plus and its separators stay, the digits count up from 1000… */
function digitsLike(found: string, n: number): string {
  const length = found.replaceAll(/\D/g, '').length
  const digits = String(10 ** (Math.min(length, 15) - 1) + n).padStart(length, '1')
  let at = 0
  return found.replaceAll(/\d/g, () => digits[at++] ?? '0')
}
