import type { FieldType } from '../../ui/format/custom-value.ts'

/** Columns to filter by, with the type of their values. Custom fields are `field:` and the key. */
const kinds = {
  name: 'text',
  email: 'text',
  phone: 'text',
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
export type PlainColumn = keyof typeof kinds
export type CustomColumn = `field:${string}`
export type Column = PlainColumn | CustomColumn
type Kind = (typeof kinds)[PlainColumn] | 'custom'

export type Operator = 'is' | 'isNot' | 'contains' | 'from' | 'to' | 'between' | 'last' | 'empty' | 'notEmpty'

export interface Condition {
  column: Column
  operator: Operator
  values: readonly string[]
}

export const plainColumns = Object.keys(kinds) as readonly PlainColumn[]

const customShape = /^field:[a-z][a-z0-9_]{0,39}$/
export const isCustom = (column: string): column is CustomColumn => customShape.test(column)
export const isColumn = (text: string): text is Column => Object.hasOwn(kinds, text) || isCustom(text)
export const kindOf = (column: Column): Kind => (isCustom(column) ? 'custom' : kinds[column as PlainColumn])

/** Returns whether a column can be sorted: notes are not in the search index, and a lead has several labels. */
export const isSortable = (column: string): boolean => column !== 'notes' && column !== 'labels'

/** Texts are encrypted: the database cannot sort them. */
export const isSortedInDatabase = (column: Column): boolean => kindOf(column) !== 'text' && kindOf(column) !== 'custom'

/** Columns that are never empty, so that filters for empty values make no sense. */
const alwaysFilled: readonly string[] = ['name', 'uniqueCode', 'status', 'priority', 'source']
const operators: Record<Kind, readonly Operator[]> = {
  text: ['contains', 'is', 'isNot'],
  presence: [],
  choice: ['is', 'isNot'],
  labels: ['is', 'isNot'],
  number: ['between', 'from', 'to', 'is', 'isNot'],
  time: ['last', 'between', 'from', 'to'],
  custom: ['contains', 'is', 'isNot', 'between', 'from', 'to', 'last'],
}

/** For defined custom fields, by type. */
const typed: Record<FieldType, readonly Operator[]> = {
  text: operators.text,
  url: operators.text,
  phone: operators.text,
  email: operators.text,
  number: operators.number,
  amount: operators.number,
  date: [...operators.time, 'is'],
  select: operators.choice,
  multiselect: ['contains'],
  boolean: ['is'],
}

/** Returns the operators of a column, most likely first. */
export function operatorsOf(column: Column, type: FieldType | null = null): readonly Operator[] {
  const kind = kindOf(column)
  if (type !== null) return [...typed[type], 'empty', 'notEmpty']
  if (kind === 'time' || alwaysFilled.includes(column)) return operators[kind]
  return [...operators[kind], 'empty', 'notEmpty']
}

export const countOf = (operator: Operator): number =>
  operator === 'empty' || operator === 'notEmpty' ? 0 : operator === 'between' ? 2 : 1

export const maxConditions = 20
const maxValues = 20

/** Returns whether a condition is complete: incomplete ones are not applied. */
export function isComplete({ column, operator, values }: Condition): boolean {
  const kind = kindOf(column)
  const count = countOf(operator)
  const isMany = operator === 'is' || operator === 'isNot'
  if (!operatorsOf(column).includes(operator)) return false
  if (isMany ? values.length === 0 || values.length > maxValues : values.length !== count) return false
  if (operator === 'last') return /^[1-9]\d{0,2}$/.test(values[0] ?? '')
  if (kind === 'labels') return values.every((value) => idShape.test(value))
  if (kind === 'number') return values.every((value) => numberShape.test(value))
  if (kind === 'time') return values.every(isDay)
  if (kind === 'custom' && !isMany && operator !== 'contains') {
    return values.every((value) => isDay(value) || numberShape.test(value))
  }
  return values.every((value) => value.trim() !== '' && value.length <= 255)
}

const idShape = /^[0-9a-f-]{36}$/
const numberShape = /^-?\d{1,15}(?:\.\d{1,10})?$/
export const isDay = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(`${text}T00:00`))

/** Formats conditions as `column.operator.value.value;…`, in the syntax of the server. */
export const writeConditions = (list: readonly Condition[]): string =>
  list.map(({ column, operator, values }) => [column, operator, ...values.map(encoded)].join('.')).join(';')

const encoded = (value: string): string => value.replace(/[.;%]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`)

/** Parses conditions of an address, dropping invalid ones. */
export const readConditions = (text: string): Condition[] =>
  text
    .split(';')
    .slice(0, maxConditions)
    .flatMap((part) => {
      const [column = '', operator = '', ...values] = part.split('.')
      if (!isColumn(column)) return []
      const condition = { column, operator: operator as Operator, values: values.map(decoded) }
      return isComplete(condition) ? [condition] : []
    })

const decoded = (value: string): string =>
  value.replace(/%([0-9a-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))

export const isSame = (a: Condition, b: Condition): boolean => writeConditions([a]) === writeConditions([b])
