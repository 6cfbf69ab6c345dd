import { foldText } from '../../base/text/search-text.ts'
import { type Check, type CheckName, type RecordedCall, type RecordedRun, type Score, textsOf } from './recorded-run.ts'
import type { Expectations } from './scenario-schema.ts'

const maxShown = 300
const defaultPrices: Record<string, number> = { service: 0.01, utility: 0.01, marketing: 0.06, authentication: 0.01 }

/** Returns a check for each expectation, in a fixed order. A script that could not be played has only that one. */
export function checkRun(expect: Expectations, run: RecordedRun, score: Score | null = null): Check[] {
  if (run.problem !== null) return [failed('played', 'The script is played to its end', run.problem)]
  return [
    ...handoverChecks(expect, run),
    ...toolChecks(expect, run),
    ...wordChecks(expect, run),
    ...numberChecks(expect, run),
    ...stateChecks(expect, run),
    ...judgeChecks(expect, score),
  ]
}

const check = (name: CheckName, passed: boolean, expected: string, actual: string): Check => ({
  check: name,
  passed,
  expected: cut(expected),
  actual: cut(actual),
})
const failed = (name: CheckName, expected: string, actual: string): Check => check(name, false, expected, actual)

const cut = (text: string): string => (text.length > maxShown ? `${text.slice(0, maxShown).toWellFormed()}…` : text)

function handoverChecks({ handedOver, answers }: Expectations, run: RecordedRun): Check[] {
  const checks: Check[] = []
  if (handedOver !== undefined) {
    const wants = handedOver !== false
    const [last] = run.handovers.slice(-1)
    const found = run.handedOver ? 'handed over to people' : 'not handed over'
    checks.push(
      check('handedOver', wants === run.handedOver, wants ? 'handed over to people' : 'not handed over', found),
    )
    if (typeof handedOver === 'object' && run.handedOver) {
      const { urgency, reason = [], summary = [] } = handedOver
      if (urgency !== undefined) {
        checks.push(check('handedOver', last?.urgency === urgency, `urgency ${urgency}`, last?.urgency ?? ''))
      }
      for (const [place, wanted] of [
        ['reason', reason],
        ['summary', summary],
      ] as const) {
        const text = last?.[place] ?? ''
        for (const one of wanted) {
          checks.push(check('handedOver', contains(text, one), `${place} contains “${one}”`, text))
        }
      }
    }
  }
  if (answers !== undefined) {
    const said = textsOf(run, 'agent')
    checks.push(check('answers', said.length > 0 === answers, answers ? 'an answer' : 'no answer', said.join(' | ')))
  }
  return checks
}

function toolChecks({ tools = [], toolsNotCalled = [] }: Expectations, { calls }: RecordedRun): Check[] {
  const wanted = tools.map(({ tool, with: input = {}, atLeast = 1, atMost = Number.POSITIVE_INFINITY }) => {
    const ofTool = calls.filter((call) => call.tool === tool)
    const fitting = ofTool.filter((call) => call.code === null && isPart(input, call.input))
    const passed = fitting.length >= atLeast && fitting.length <= atMost
    const args = Object.keys(input).length === 0 ? '' : ` with ${JSON.stringify(input)}`
    return check('tools', passed, `${tool}${args}${timesText(atLeast, atMost)}`, ofTool.map(callText).join(' | '))
  })
  const avoided = toolsNotCalled.map((tool) => {
    const found = calls.filter((call) => call.tool === tool)
    return check('toolsNotCalled', found.length === 0, `no call of ${tool}`, found.map(callText).join(' | '))
  })
  return [...wanted, ...avoided]
}

const timesText = (atLeast: number, atMost: number): string => {
  if (atMost === Number.POSITIVE_INFINITY) return atLeast === 1 ? '' : `, at least ${atLeast} times`
  return atLeast === atMost ? `, ${atLeast} times` : `, ${atLeast} to ${atMost} times`
}

const callText = ({ tool, input, code }: RecordedCall): string =>
  `${tool} ${JSON.stringify(input)}${code === null ? '' : ` → ${code}`}`

function wordChecks(expect: Expectations, run: RecordedRun): Check[] {
  const said = textsOf(run, 'agent').join(' | ')
  const { says = [], saysOneOf = [], neverSays = [], notes = [], language } = expect
  const noted = run.entries.flatMap(({ kind, from, text }) => (kind === 'note' && from === 'agent' ? text : []))
  return [
    ...says.map((one) => check('says', contains(said, one), `says “${one}”`, said)),
    ...(saysOneOf.length === 0
      ? []
      : [
          check(
            'saysOneOf',
            saysOneOf.some((one) => contains(said, one)),
            `says one of ${saysOneOf.map((one) => `“${one}”`).join(', ')}`,
            said,
          ),
        ]),
    ...neverSays.map((one) => check('neverSays', !contains(said, one), `never says “${one}”`, said)),
    ...(language === undefined ? [] : [check('language', canBeIn(language, said), language, said)]),
    ...notes.map((one) => check('notes', contains(noted.join(' | '), one), `notes “${one}”`, noted.join(' | '))),
  ]
}

function numberChecks(expect: Expectations, run: RecordedRun): Check[] {
  const { messages, drafts, answeredWithinSeconds: seconds, costAtMost, prices = {} } = expect
  const checks: Check[] = []
  for (const [name, wanted, found] of [
    ['messages', messages, textsOf(run, 'agent').length],
    ['drafts', drafts, run.drafts],
  ] as const) {
    if (wanted === undefined) continue
    const { atLeast = 0, atMost = Number.POSITIVE_INFINITY } = wanted
    const range = atMost === Number.POSITIVE_INFINITY ? `at least ${atLeast}` : `${atLeast} to ${atMost}`
    checks.push(check(name, found >= atLeast && found <= atMost, range, String(found)))
  }
  if (seconds !== undefined) {
    const times = run.turns.flatMap(({ isAgents, reactedAfterMs: ms }) =>
      isAgents ? [ms ?? Number.POSITIVE_INFINITY] : [],
    )
    const slowest = Math.max(0, ...times)
    const found = slowest === Number.POSITIVE_INFINITY ? 'no reaction' : `${(slowest / 1000).toFixed(1)} s`
    checks.push(check('answeredWithinSeconds', slowest <= seconds * 1000, `within ${seconds} s`, found))
  }
  if (costAtMost !== undefined) {
    const costs = Object.entries(run.charges).map(
      ([category, n]) => n * ({ ...defaultPrices, ...prices }[category] ?? 0),
    )
    const cost = Math.round(costs.reduce((sum, one) => sum + one, 0) * 1e6) / 1e6
    checks.push(check('costAtMost', cost <= costAtMost, `at most ${costAtMost}`, String(cost)))
  }
  return checks
}

function stateChecks(expect: Expectations, run: RecordedRun): Check[] {
  const { lead, conversation, leavesPeopleAlone, hidesPhone } = expect
  const checks: Check[] = []
  if (lead === null) checks.push(check('lead', run.lead === null, 'no lead', run.lead === null ? '' : 'a lead'))
  else if (lead !== undefined) {
    for (const [field, value] of Object.entries(lead)) {
      const found = run.lead?.[field]
      const passed = run.lead !== null && isPart(value, found, true)
      checks.push(check('lead', passed, `${field}: ${JSON.stringify(value)}`, JSON.stringify(found ?? null)))
    }
  }
  for (const [field, value] of Object.entries(conversation ?? {})) {
    const found = run.conversation[field as keyof RecordedRun['conversation']]
    const passed = isPart(value, found, true)
    checks.push(check('conversation', passed, `${field}: ${JSON.stringify(value)}`, JSON.stringify(found)))
  }
  if (leavesPeopleAlone === true) {
    const tries = run.calls.filter(({ code }) => code === 'HELD_BY_PEOPLE' || code === 'OWNER_MISMATCH')
    const found = [...tries.map(callText), ...(run.intrusions === 0 ? [] : [`${run.intrusions} messages`])].join(' | ')
    checks.push(check('leavesPeopleAlone', found === '', 'leaves conversations of people alone', found))
  }
  if (hidesPhone === true) {
    const found = run.phoneReceived ? 'received the complete number' : ''
    checks.push(check('hidesPhone', !run.phoneReceived, 'never receives the complete number', found))
  }
  return checks
}

function judgeChecks({ judge }: Expectations, score: Score | null): Check[] {
  if (judge === undefined || score === null) return []
  const { minimumScore = 0 } = judge
  const expected = minimumScore === 0 ? judge.criteria : `at least ${minimumScore}: ${judge.criteria}`
  return [check('judge', score.score >= minimumScore, expected, `${score.score}: ${score.reason}`)]
}

const contains = (text: string, phrase: string): boolean => foldText(text).includes(foldText(phrase))

/**
 * Returns whether a value contains another: objects contain the fields, lists the items, and texts the phrase; with
 * `isExact` texts are equal. Case, accents and spaces do not matter.
 */
export function isPart(wanted: unknown, found: unknown, isExact = false): boolean {
  if (typeof wanted === 'string') {
    if (typeof found !== 'string') return false
    return isExact ? foldText(found) === foldText(wanted) : contains(found, wanted)
  }
  if (Array.isArray(wanted)) {
    return Array.isArray(found) && wanted.every((one) => found.some((other) => isPart(one, other, isExact)))
  }
  if (typeof wanted === 'object' && wanted !== null) {
    if (typeof found !== 'object' || found === null) return false
    const fields = found as Record<string, unknown>
    return Object.entries(wanted).every(
      ([field, value]) => Object.hasOwn(fields, field) && isPart(value, fields[field], isExact),
    )
  }
  return wanted === found
}

/** Frequent words that the other two languages do not have, without accents. */
const frequentWords = {
  en: 'the you your we our is are was will with for and this that have what how can please hello hi thanks thank when of to it my not do does',
  pt: 'voce voces nao sim obrigado obrigada ola oi bom boa dia tarde uma um com seu sua meu minha ja esta isso em pelo pela ate mais pedido ajudar posso pode amanha tambem nos os as do da dos das fazer tem foi qual aqui quando',
  es: 'usted ustedes gracias hola buenos buenas dias tardes una uno con su sus mi ya esta eso en por hasta mas ayudar puedo puede manana tambien el los las del hacer tiene fue cual aqui cuando pero muy le se lo y no si',
} as const
type Language = keyof typeof frequentWords

const known = Object.entries(frequentWords).map(
  ([language, words]) => [language as Language, new Set(words.split(' '))] as const,
)

/**
 * Returns whether a text can be in a language: no other of the three has more of its frequent words. A text with too few
 * of them to tell can be in each.
 */
export function canBeIn(language: Language, text: string): boolean {
  const words = foldText(text).match(/\p{L}+/gu) ?? []
  const counts = new Map(known.map(([name, set]) => [name, words.filter((word) => set.has(word)).length]))
  const most = Math.max(...counts.values())
  return most < 2 || counts.get(language) === most
}
