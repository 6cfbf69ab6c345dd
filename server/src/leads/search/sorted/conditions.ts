import { createHash } from 'node:crypto'
import type { Issue } from '../../../base/errors.ts'
import { isUuid } from '../../../base/id.ts'
import { foldText } from '../../../base/text/search-text.ts'
import { parseIsoTime } from '../../../base/time.ts'
import { keyProblem } from '../../lead/custom-fields.ts'

/** Columns for filters, with the type of their values. A custom field is `field:<key>`. */
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

/** Parses `column.operator.value.value;…`. In values, `.`, `;` and `%` are percent-encoded. */
export function parseConditions(text: string, match: 'all' | 'any'): { conditions: Conditions; issues: Issue[] } {
  const issues: Issue[] = []
  const parts = text.split(';').filter((part) => part !== '')
  if (parts.length > maxConditions) {
    issues.push({ path: 'where', message: `must have at most ${maxConditions} conditions` })
  }
  const list = parts.slice(0, maxConditions).flatMap((part, n) => {
    const condition = parseCondition(part)
    if (typeof condition !== 'string') return [condition]
    issues.push({ path: 'where', message: `condition ${n + 1} ${condition}` })
    return []
  })
  return { conditions: { match, list }, issues }
}

/** Returns the condition, or what is wrong with it. */
function parseCondition(text: string): Condition | string {
  const [column = '', operator = '', ...encoded] = text.split('.')
  if (!Object.hasOwn(columns, column) && !isCustom(column)) return 'must begin with a column or field:<key>'
  const known = column as Column | CustomColumn
  const operators: readonly string[] = operatorsOf[kindOf(known)]
  if (!operators.includes(operator)) return `must have one of ${operators.join(', ')} after its column`
  const values = encoded.map(decodeValue)
  if (values.some((value) => value === null || value.length > maxValueLength || value.includes('\u0000'))) {
    return `has a value that is longer than ${maxValueLength} characters or not in percent-encoding`
  }
  const condition = { column: known, operator: operator as Operator, values: values as string[] }
  if (known === 'labels') condition.values = condition.values.map((id) => id.toLowerCase())
  return conditionProblem(condition) ?? condition
}

function decodeValue(value: string): string | null {
  try {
    return decodeURIComponent(value)
  } catch {
    return null
  }
}

function conditionProblem({ column, operator, values }: Condition): string | null {
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
  const isValid = (value: string) =>
    kind === 'number'
      ? isNumber(value)
      : kind === 'time'
        ? parseIsoTime(value) !== null
        : !isRange(operator) || isNumber(value) || parseIsoTime(value) !== null
  if (values.every(isValid)) return null
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

/** Resolves relative times, rounded down to the minute so that all pages of a list agree. */
export function resolveConditions(conditions: Conditions, now: Date): Conditions {
  const list = conditions.list.map((condition): Condition => {
    if (condition.operator !== 'last') return condition
    const from = Math.floor(now.getTime() / minuteMs) * minuteMs - Number(condition.values[0]) * dayMs
    return { ...condition, operator: 'from', values: [new Date(from).toISOString()] }
  })
  return { ...conditions, list }
}

/** Returns a digest of the conditions, which does not reveal their values. */
export const conditionsKey = (conditions: Conditions): string =>
  createHash('sha256').update(JSON.stringify(conditions)).digest('base64url')

export type TextColumn = 'name' | 'email' | 'phone' | 'uniqueCode' | 'externalRef'
export type ChoiceColumn = 'status' | 'priority' | 'source' | 'adPlatform' | 'assignedTo'
export type NumberColumn = 'estimatedValue' | 'actualValue' | 'createdAt' | 'updatedAt'

/** Lead as conditions and orders read it. Missing texts are empty; times are milliseconds. */
export interface ReadableLead {
  text(column: TextColumn): string
  choice(column: ChoiceColumn): string | null
  number(column: NumberColumn): number | null
  hasNotes(): boolean
  labels(): readonly string[]
  field(key: string): string
}

export type LeadTest = (lead: ReadableLead) => boolean

/** Returns a test for resolved conditions. Without conditions every lead passes. */
export function compileConditions({ match, list }: Conditions): LeadTest {
  const tests = list.map(compileCondition)
  if (tests.length === 0) return () => true
  return match === 'any' ? (lead) => tests.some((test) => test(lead)) : (lead) => tests.every((test) => test(lead))
}

function compileCondition(condition: Condition): LeadTest {
  const { column, operator } = condition
  const isEmpty = emptyTest(column)
  if (operator === 'empty') return isEmpty
  if (operator === 'notEmpty') return (lead) => !isEmpty(lead)
  if (operator === 'isNot') {
    const is = compileCondition({ ...condition, operator: 'is' })
    return (lead) => !is(lead)
  }
  switch (kindOf(column)) {
    case 'labels':
      return (lead) => lead.labels().some((id) => condition.values.includes(id))
    case 'choice':
      return (lead) => condition.values.includes(lead.choice(column as ChoiceColumn) ?? '')
    case 'number':
    case 'time':
      return numberTest(condition, column as NumberColumn)
    case 'phone':
      return textTest(condition, (lead) => lead.text('phone'), digitsOf)
    case 'custom': {
      const read = (lead: ReadableLead) => lead.field(column.slice('field:'.length))
      if (isRange(operator)) return rangeOfText(condition, read)
      const isText = textTest(condition, read, foldText)
      return operator === 'is' ? (lead) => isText(lead) || isSameNumber(condition, read(lead)) : isText
    }
    default:
      return textTest(condition, (lead) => lead.text(column as TextColumn), foldText)
  }
}

function emptyTest(column: Condition['column']): LeadTest {
  const kind = kindOf(column)
  if (kind === 'labels') return (lead) => lead.labels().length === 0
  if (kind === 'presence') return (lead) => !lead.hasNotes()
  if (kind === 'custom') return (lead) => lead.field(column.slice('field:'.length)) === ''
  if (kind === 'choice') return (lead) => lead.choice(column as ChoiceColumn) === null
  if (kind === 'number' || kind === 'time') return (lead) => lead.number(column as NumberColumn) === null
  return (lead) => lead.text(column as TextColumn) === ''
}

const digitsOf = (text: string): string => text.replace(/\D/g, '')

function textTest(
  { operator, values }: Condition,
  read: (lead: ReadableLead) => string,
  fold: (text: string) => string,
): LeadTest {
  const expected = values.map(fold).filter((value) => value !== '')
  if (operator !== 'contains') return (lead) => expected.includes(fold(read(lead)))
  return (lead) => {
    const text = fold(read(lead))
    return expected.some((value) => text.includes(value))
  }
}

function numberTest(condition: Condition, column: NumberColumn): LeadTest {
  const { operator, values } = condition
  if (operator === 'is') {
    const expected = values.map(Number)
    return (lead) => expected.includes(lead.number(column) ?? Number.NaN)
  }
  const [from, to] = boundsOf(condition).map((bound) => numberOf(bound, column))
  return (lead) => {
    const number = lead.number(column)
    return number !== null && (from === undefined || number >= from) && (to === undefined || number <= to)
  }
}

// Ignores trailing decimals, so 1 equals 1.0. A number with a leading zero is a code, not a number.
const isSameNumber = ({ values }: Condition, text: string): boolean =>
  isPlainNumber(text) && values.some((value) => isPlainNumber(value) && Number(value) === Number(text))
const isPlainNumber = (text: string): boolean => isNumber(text) && !/^-?0\d/.test(text)

/** Returns a bound of a plain column as a number; times as milliseconds. */
export function numberOf(bound: string | undefined, column: Column): number | undefined {
  if (bound === undefined) return undefined
  return kindOf(column) === 'time' ? parseIsoTime(bound)?.getTime() : Number(bound)
}

export function boundsOf({ operator, values }: Condition): [from: string | undefined, to: string | undefined] {
  if (operator === 'between') return [values[0], values[1]]
  return operator === 'from' ? [values[0], undefined] : [undefined, values[0]]
}

/** Compares numbers with numbers and dates with dates; values of another type never match. */
function rangeOfText(condition: Condition, read: (lead: ReadableLead) => string): LeadTest {
  const bounds = boundsOf(condition)
  if (bounds.every((bound) => bound === undefined || isNumber(bound))) {
    const [from, to] = bounds.map((bound) => (bound === undefined ? undefined : Number(bound)))
    return (lead) => {
      const text = read(lead)
      const number = Number(text)
      return isNumber(text) && (from === undefined || number >= from) && (to === undefined || number <= to)
    }
  }
  const [from, to] = bounds.map((bound) => bound?.slice(0, 10))
  return (lead) => {
    const day = read(lead).slice(0, 10)
    return isDay.test(day) && (from === undefined || day >= from) && (to === undefined || day <= to)
  }
}

const isDay = /^\d{4}-\d\d-\d\d$/
