import { createHash } from 'node:crypto'
import type { Issue } from '../../../base/errors.ts'
import { isUuid } from '../../../base/id.ts'
import { readIsoTime } from '../../../base/time.ts'
import { keyProblem } from '../../lead/custom-fields.ts'

/** What a list can be narrowed by, each with the kind of its values. A custom field is `field:` and its key. */
export const columns = {
  name: 'text',
  email: 'text',
  phone: 'phone',
  uniqueCode: 'text',
  externalRef: 'text',
  notes: 'presence',
  status: 'choice',
  priority: 'choice',
  source: 'choice',
  adPlatform: 'choice',
  assignedTo: 'choice',
  labels: 'labels',
  estimatedValue: 'number',
  actualValue: 'number',
  createdAt: 'time',
  updatedAt: 'time',
} as const
export type Column = keyof typeof columns
export type CustomColumn = `field:${string}`
type Kind = (typeof columns)[Column] | 'custom'

const operatorsOf = {
  text: ['is', 'isNot', 'contains', 'empty', 'notEmpty'],
  phone: ['is', 'isNot', 'contains', 'empty', 'notEmpty'],
  presence: ['empty', 'notEmpty'],
  choice: ['is', 'isNot', 'empty', 'notEmpty'],
  labels: ['is', 'isNot', 'empty', 'notEmpty'],
  number: ['is', 'isNot', 'from', 'to', 'between', 'empty', 'notEmpty'],
  time: ['from', 'to', 'between', 'last'],
  custom: ['is', 'isNot', 'contains', 'from', 'to', 'between', 'last', 'empty', 'notEmpty'],
} as const
export type Operator = (typeof operatorsOf)[Kind][number]

export interface Condition {
  column: Column | CustomColumn
  operator: Operator
  values: string[]
}

/** Conditions of which all, or one at least, hold. */
export interface Conditions {
  match: 'all' | 'any'
  list: Condition[]
}

export const maxConditions = 20
const maxValues = 20
const maxValueLength = 255
const maxDays = 3650

const isCustom = (column: string): column is CustomColumn =>
  column.startsWith('field:') && keyProblem(column.slice(6)) === null

export const kindOf = (column: Column | CustomColumn): Kind => (isCustom(column) ? 'custom' : columns[column as Column])

/**
 * Reads `column.operator.value.value;…`; of a value, `.`, `;` and `%` are written in percent-encoding.
 */
export function readConditions(text: string, match: 'all' | 'any'): { conditions: Conditions; issues: Issue[] } {
  const issues: Issue[] = []
  const parts = text.split(';').filter((part) => part !== '')
  if (parts.length > maxConditions) {
    issues.push({ path: 'where', message: `must have at most ${maxConditions} conditions` })
  }
  const list = parts.slice(0, maxConditions).flatMap((part, n) => {
    const condition = readCondition(part)
    if (typeof condition !== 'string') return [condition]
    issues.push({ path: 'where', message: `condition ${n + 1} ${condition}` })
    return []
  })
  return { conditions: { match, list }, issues }
}

/** The condition, or what is wrong with it. */
function readCondition(text: string): Condition | string {
  const [column = '', operator = '', ...encoded] = text.split('.')
  if (!Object.hasOwn(columns, column) && !isCustom(column)) return 'must begin with a column or field:<key>'
  const known = column as Column | CustomColumn
  const operators: readonly string[] = operatorsOf[kindOf(known)]
  if (!operators.includes(operator)) return `must have one of ${operators.join(', ')} after its column`
  const values = encoded.map(decode)
  if (values.some((value) => value === null || value.length > maxValueLength || value.includes('\u0000'))) {
    return `has a value that is longer than ${maxValueLength} characters or not in percent-encoding`
  }
  const condition = { column: known, operator: operator as Operator, values: values as string[] }
  if (known === 'labels') condition.values = condition.values.map((id) => id.toLowerCase())
  return problemOf(condition) ?? condition
}

function decode(value: string): string | null {
  try {
    return decodeURIComponent(value)
  } catch {
    return null
  }
}

function problemOf({ column, operator, values }: Condition): string | null {
  const kind = kindOf(column)
  const [min, max] = countOf(operator)
  if (values.length < min || values.length > max) {
    return min === max ? `must have ${min} values` : `must have ${min} to ${max} values`
  }
  if (operator === 'last') {
    const days = Number(values[0])
    return /^\d{1,4}$/.test(values[0] ?? '') && days >= 1 && days <= maxDays ? null : `must have 1 to ${maxDays} days`
  }
  if (kind === 'labels') return values.every(isUuid) ? null : 'must have ids of labels as its values'
  const isRight = (value: string) =>
    kind === 'number'
      ? isNumber(value)
      : kind === 'time'
        ? readIsoTime(value) !== null
        : !isRange(operator) || isNumber(value) || readIsoTime(value) !== null
  if (values.every(isRight)) return null
  return kind === 'time' ? 'must have ISO 8601 dates as its values' : 'must have numbers as its values'
}

function countOf(operator: Operator): [min: number, max: number] {
  if (operator === 'empty' || operator === 'notEmpty') return [0, 0]
  if (operator === 'between') return [2, 2]
  return operator === 'is' || operator === 'isNot' ? [1, maxValues] : [1, 1]
}

export const isRange = (operator: Operator): boolean =>
  operator === 'from' || operator === 'to' || operator === 'between'

export const isNumber = (text: string): boolean => /^-?\d{1,15}(?:\.\d{1,10})?$/.test(text)

const dayMs = 86_400_000
const minuteMs = 60_000

/** Relative times as they are now, to the minute: the pages of one look agree. */
export function resolved(conditions: Conditions, now: Date): Conditions {
  const list = conditions.list.map((condition): Condition => {
    if (condition.operator !== 'last') return condition
    const from = Math.floor(now.getTime() / minuteMs) * minuteMs - Number(condition.values[0]) * dayMs
    return { ...condition, operator: 'from', values: [new Date(from).toISOString()] }
  })
  return { ...conditions, list }
}

/** The same for conditions that ask the same; it does not tell what for. */
export const conditionsKey = (conditions: Conditions): string =>
  createHash('sha256').update(JSON.stringify(conditions)).digest('base64url')
