import type { Check, CheckStep } from '../../data/connection/check.ts'
import type { Connection } from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import { reasonText } from '../../ui/format/error-texts.ts'
import { formatDateTime } from '../../ui/format/time.ts'
import { adviceText } from '../parts/state-texts.ts'

type Message = string | ((values: Record<string, string>) => string)
type Catalog = Record<string, Message | undefined>

/** Returns what a step found and what to do, in the app's language; the server's English for codes without a text. */
export function stepText({ code, values, found, advice }: CheckStep): { found: string; advice: string | null } {
  const { found: foundTexts, advice: adviceTexts } = t.connections.setup
  const shown = shownValues(values)
  const text = (catalog: unknown) => {
    const message = (catalog as Catalog)[code]
    return typeof message === 'function' ? message(shown) : message
  }
  const reasonAdvice = values.reason === undefined ? undefined : adviceText({ code: values.reason, text: advice ?? '' })
  return { found: text(foundTexts)?.trim() ?? found, advice: text(adviceTexts) ?? reasonAdvice ?? advice }
}

const times: readonly string[] = ['at', 'until']

function shownValues(values: Readonly<Record<string, string>>): Record<string, string> {
  const shown = Object.entries(values).map(([name, value]) => {
    if (name === 'reason') return [name, reasonText(value)]
    return [name, times.includes(name) ? formatDateTime(value) : value]
  })
  return Object.fromEntries(shown)
}

/** Returns whether the connection is still being set up. */
export const isInSetup = ({ state, stateReason }: Pick<Connection, 'state' | 'stateReason'>): boolean =>
  state === 'unavailable' && stateReason === 'setup'

/** Sums up a report: how many steps need a person, and which is next. */
export function summaryOf({ steps }: Check): string {
  const { problems, next, allGood, steps: names } = t.connections.setup
  const failed = steps.filter(({ status }) => status === 'failed')
  // Choosing the number also chooses its account.
  const first = failed.find(({ code }) => code !== 'account_not_chosen') ?? failed[0]
  return first === undefined ? allGood : `${problems({ n: failed.length })}. ${next({ step: names[first.step] })}`
}
