import { SqlPart, type StatementDraft } from './template.ts'
import { byteaArray, timestampArray, type Value } from './values.ts'

// Types of columns and of their values.
interface ValuesOf {
  uuid: string | null
  text: string | null
  integer: number | null
  float8: number | null
  boolean: boolean | null
  bytea: Buffer | null
  timestamptz: Date | null
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

/** SQL, for `from`: the rows as `n`, with one array parameter per column. */
export const unnested = <R extends object>(rows: readonly R[], columns: Columns<R>): SqlPart =>
  new SqlPart((draft) => {
    draft.text += 'unnest('
    let separator = ''
    for (const [type, properties] of Object.entries(columns as Record<string, readonly (keyof R & string)[]>)) {
      for (const property of properties) {
        draft.text += separator
        addList(draft, type as ColumnType, rows.map((row) => row[property]) as Value[])
        separator = ', '
      }
    }
    draft.text += `) as n (${namesOf(columns)})`
  })

function addList(draft: StatementDraft, type: ColumnType, values: readonly Value[]): void {
  if (type === 'bytea') draft.add(byteaArray(values as (Buffer | null)[]))
  else draft.add(type === 'timestamptz' ? timestampArray(values as (Date | null)[]) : values)
  draft.text += `::${type}[]`
}
