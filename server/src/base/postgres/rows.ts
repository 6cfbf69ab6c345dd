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

const namesOf = (columns: object): string => Object.values(columns).flat().map(columnOf).join(', ')

/** SQL: the column names, in the order of `unnested`. */
export const columnNames = (columns: Readonly<Record<string, readonly string[]>>): SqlPart =>
  new SqlPart((draft) => {
    draft.text += namesOf(columns)
  })

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
    for (const [n, [type, property]] of propertiesOf(columns).entries()) {
      const isHidden = hidesLength && n === 0
      draft.text += `${n === 0 ? '' : ', '}${isHidden ? '(select ' : ''}`
      addList(draft, type, rows.map((row) => row[property]) as Value[])
      if (isHidden) draft.text += ')'
    }
    draft.text += `) as n (${namesOf(columns)})`
  })

/** SQL: the values of one row, in the order of `columnNames`. */
export const valuesOf = <R extends object>(row: R, columns: Columns<R>): SqlPart =>
  new SqlPart((draft) => {
    for (const [n, [type, property]] of propertiesOf(columns).entries()) {
      if (n > 0) draft.text += ', '
      addValue(draft, type, row[property] as Value)
    }
  })

/** SQL, for `set`: the columns with the values of one row; without it, with those of `n`. */
export const assignments = <R extends object>(columns: Columns<R>, row?: R): SqlPart =>
  new SqlPart((draft) => {
    for (const [n, [type, property]] of propertiesOf(columns).entries()) {
      const column = columnOf(property)
      draft.text += `${n > 0 ? ', ' : ''}${column} = `
      if (row === undefined) draft.text += `n.${column}`
      else addValue(draft, type, row[property] as Value)
    }
  })

const propertiesOf = <R>(columns: Columns<R>) =>
  Object.entries(columns as Record<ColumnType, readonly (keyof R & string)[]>).flatMap(([type, properties]) =>
    properties.map((property) => [type as ColumnType, property] as const),
  )

function addValue(draft: StatementDraft, type: ColumnType, value: Value): void {
  draft.add(value)
  draft.text += `::${type}`
}

function addList(draft: StatementDraft, type: ColumnType, values: readonly Value[]): void {
  if (type === 'bytea') draft.add(byteaArray(values as (Buffer | null)[]))
  else draft.add(type === 'timestamptz' ? timestampArray(values as (Date | null)[]) : values)
  draft.text += `::${type}[]`
}
