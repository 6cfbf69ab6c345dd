import { SqlPart, type StatementDraft } from './template.ts'
import { byteaArray, timestampArray, type Value } from './values.ts'

// Types of columns and of their values.
interface ValuesOf {
  uuid: string | null
  text: string | null
  integer: number | null
  numeric: number | null
  float8: number | null
  boolean: boolean | null
  bytea: Buffer | null
  timestamptz: Date | null
  jsonb: string | null
}

type ColumnType = keyof ValuesOf

/** Properties of rows by column type. The column is the property in snake case. */
export type Columns<R> = { readonly [T in ColumnType]?: readonly PropertyOf<R, ValuesOf[T]>[] }

type PropertyOf<R, V> = { [K in keyof R & string]: R[K] extends V ? K : never }[keyof R & string]

const columnOf = (property: string): string => property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

interface ColumnList<P = string> {
  properties: readonly (readonly [type: ColumnType, property: P, column: string])[]
  /** The column names, separated by commas. */
  names: string
}

/** Lists of columns that are constants of a module: computed once, because each write uses several. */
const lists = new WeakMap<object, ColumnList>()

function listOf(columns: Readonly<Record<string, readonly string[]>>): ColumnList {
  const known = lists.get(columns)
  if (known !== undefined) return known
  const properties = Object.entries(columns).flatMap(([type, each]) =>
    each.map((property) => [type as ColumnType, property, columnOf(property)] as const),
  )
  const list = { properties, names: properties.map(([, , column]) => column).join(', ') }
  lists.set(columns, list)
  return list
}

/** SQL: the column names, in the order of `unnested`. */
export const columnNames = (columns: Readonly<Record<string, readonly string[]>>): SqlPart =>
  new SqlPart((draft) => {
    draft.text += listOf(columns).names
  })

/** Returns the row's values by column, for `set` and `row`. */
export const withColumnNames = <R extends object>(row: R): Record<string, R[keyof R]> =>
  Object.fromEntries(Object.entries(row).map(([property, value]) => [columnOf(property), value]))

/** SQL, for `select`: the columns of properties, as these properties. */
export function selectedAs(table: string, properties: readonly string[]): SqlPart {
  const text = properties.map((property) => `${table}.${columnOf(property)} as "${property}"`).join(', ')
  return new SqlPart((draft) => {
    draft.text += text
  })
}

/**
 * SQL, for `from`: the rows as `n`, with one array parameter per column. `hidesLength` hides their number from the
 * planner, which would otherwise replan for every number.
 */
export const unnested = <R extends object>(
  rows: readonly R[],
  columns: Columns<R>,
  { hidesLength = false } = {},
): SqlPart =>
  new SqlPart((draft) => {
    draft.text += 'unnest('
    const { properties, names } = propertiesOf(columns)
    for (const [n, [type, property]] of properties.entries()) {
      const isHidden = hidesLength && n === 0
      draft.text += `${n === 0 ? '' : ', '}${isHidden ? '(select ' : ''}`
      addList(draft, type, rows.map((row) => row[property]) as Value[])
      if (isHidden) draft.text += ')'
    }
    draft.text += `) as n (${names})`
  })

/** SQL: the values of one row, in the order of `columnNames`. */
export const valuesOf = <R extends object>(row: R, columns: Columns<R>): SqlPart =>
  new SqlPart((draft) => {
    for (const [n, [type, property]] of propertiesOf(columns).properties.entries()) {
      if (n > 0) draft.text += ', '
      addValue(draft, type, row[property] as Value)
    }
  })

/** SQL, for `set`: the columns with the values of one row; without it, with those of `n`. */
export const assignments = <R extends object>(columns: Columns<R>, row?: R): SqlPart =>
  new SqlPart((draft) => {
    for (const [n, [type, property, column]] of propertiesOf(columns).properties.entries()) {
      draft.text += `${n > 0 ? ', ' : ''}${column} = `
      if (row === undefined) draft.text += `n.${column}`
      else addValue(draft, type, row[property] as Value)
    }
  })

const propertiesOf = <R>(columns: Columns<R>) =>
  listOf(columns as Record<string, readonly string[]>) as ColumnList<keyof R & string>

function addValue(draft: StatementDraft, type: ColumnType, value: Value): void {
  draft.add(value)
  draft.text += `::${type}`
}

function addList(draft: StatementDraft, type: ColumnType, values: readonly Value[]): void {
  if (type === 'bytea') draft.add(byteaArray(values as (Buffer | null)[]))
  else draft.add(type === 'timestamptz' ? timestampArray(values as (Date | null)[]) : values)
  draft.text += `::${type}[]`
}
