import { foldText } from '../../../base/text/search-text.ts'
import { readIsoTime } from '../../../base/time.ts'
import { type Column, type Condition, type Conditions, isNumber, isRange, kindOf } from './conditions.ts'

export type TextColumn = 'name' | 'email' | 'phone' | 'uniqueCode' | 'externalRef'
export type ChoiceColumn = 'status' | 'priority' | 'source' | 'adPlatform' | 'assignedTo'
export type NumberColumn = 'estimatedValue' | 'actualValue' | 'createdAt' | 'updatedAt'

/** A lead as conditions and orders look at it. Texts that are not there are empty; times are milliseconds. */
export interface ReadableLead {
  text(column: TextColumn): string
  choice(column: ChoiceColumn): string | null
  number(column: NumberColumn): number | null
  hasNotes(): boolean
  labels(): readonly string[]
  field(key: string): string
}

export type Test = (lead: ReadableLead) => boolean

/** Whether a lead fits the conditions, which are resolved. None at all fit every lead. */
export function testOf({ match, list }: Conditions): Test {
  const tests = list.map(testOfOne)
  if (tests.length === 0) return () => true
  return match === 'any' ? (lead) => tests.some((test) => test(lead)) : (lead) => tests.every((test) => test(lead))
}

function testOfOne(condition: Condition): Test {
  const { column, operator } = condition
  const isEmpty = emptiness(column)
  if (operator === 'empty') return isEmpty
  if (operator === 'notEmpty') return (lead) => !isEmpty(lead)
  if (operator === 'isNot') {
    const is = testOfOne({ ...condition, operator: 'is' })
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

function emptiness(column: Condition['column']): Test {
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
): Test {
  const wanted = values.map(fold).filter((value) => value !== '')
  if (operator !== 'contains') return (lead) => wanted.includes(fold(read(lead)))
  return (lead) => {
    const text = fold(read(lead))
    return wanted.some((value) => text.includes(value))
  }
}

function numberTest(condition: Condition, column: NumberColumn): Test {
  const { operator, values } = condition
  if (operator === 'is') {
    const wanted = values.map(Number)
    return (lead) => wanted.includes(lead.number(column) ?? Number.NaN)
  }
  const [from, to] = boundsOf(condition).map((bound) => numberOf(bound, column))
  return (lead) => {
    const number = lead.number(column)
    return number !== null && (from === undefined || number >= from) && (to === undefined || number <= to)
  }
}

// Also where one has more decimals; what has a zero in front is no number but a code.
const isSameNumber = ({ values }: Condition, text: string): boolean =>
  isWritten(text) && values.some((value) => isWritten(value) && Number(value) === Number(text))
const isWritten = (text: string): boolean => isNumber(text) && !/^-?0\d/.test(text)

/** What a bound of a plain column is as a number; a time, in milliseconds. */
export function numberOf(bound: string | undefined, column: Column): number | undefined {
  if (bound === undefined) return undefined
  return kindOf(column) === 'time' ? readIsoTime(bound)?.getTime() : Number(bound)
}

export function boundsOf({ operator, values }: Condition): [from: string | undefined, to: string | undefined] {
  if (operator === 'between') return [values[0], values[1]]
  return operator === 'from' ? [values[0], undefined] : [undefined, values[0]]
}

/** Numbers are compared with numbers, and days with days; what is of another kind is in no range. */
function rangeOfText(condition: Condition, read: (lead: ReadableLead) => string): Test {
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
