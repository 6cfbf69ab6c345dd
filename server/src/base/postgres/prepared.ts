import { createHash } from 'node:crypto'
import type { Statement } from './template.ts'
import type { Wire } from './values.ts'

/** A statement that sessions keep under a name, so that the database reads and plans it once for each. */
export interface Plan {
  readonly name: string
  readonly text: string
  readonly types: readonly number[]
}

/** One thing for the database to do, with the values to do it with. */
export interface Step {
  readonly plan: Plan
  readonly values: readonly Wire[]
}

/** More texts than there are statements, many of whose variants differ by a piece. */
const mostPlans = 2_000

const plans = new Map<string, Plan>()

/** The name is made of the text, so that it tells the same in the database's own lists, whatever the process. */
export function planOf({ text, types }: Pick<Statement, 'text' | 'types'>): Plan {
  const key = types.length === 0 ? text : `${text}\n${types.join()}`
  const known = plans.get(key)
  if (known !== undefined) return known
  const name = `parley_${createHash('sha256').update(key).digest('base64url').slice(0, 22)}`
  const plan = { name, text, types }
  if (plans.size === mostPlans) for (const oldest of plans.keys()) return remember(oldest, key, plan)
  plans.set(key, plan)
  return plan
}

function remember(oldest: string, key: string, plan: Plan): Plan {
  plans.delete(oldest)
  plans.set(key, plan)
  return plan
}

const bare = (text: string): Step => ({ plan: planOf({ text, types: [] }), values: [] })

export const begin = bare('begin')
export const commit = bare('commit')
export const rollback = bare('rollback')
