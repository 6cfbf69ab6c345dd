import { Select } from '@mantine/core'
import type { ChosenField, ColumnValues } from '../../data/imports.ts'
import { t } from '../../text/index.ts'
import { number } from '../../ui/format/time.ts'
import { choicesOf, type FieldContext } from '../fields/columns.tsx'
import { type Meanings, meaningOf, valueKey } from './mapping.ts'
import styles from './transfer.module.css'

interface ValueMappingProps {
  columns: readonly { column: string; field: ChosenField }[]
  /** By the place of the column; undefined while the file is read. */
  values: readonly (ColumnValues | undefined)[]
  meanings: Meanings
  set(meanings: Meanings): void
  context: FieldContext
}

type Value = ColumnValues['values'][number]

const leftOut = ''

/** What the file's own words for a status, a priority or a source mean here. What nobody says is refused, row by row. */
export function ValueMapping({ columns, values, meanings, set, context }: ValueMappingProps) {
  const { values: texts } = t.transfer
  // What is written as it is here needs no word.
  const shown = columns.flatMap((one, n) => {
    const list = values[n]?.values.filter(({ text, value }) => valueKey(text) !== value) ?? []
    return list.length === 0 ? [] : [{ ...one, list, isWhole: values[n]?.isWhole !== false }]
  })
  if (shown.length === 0) return null
  const open = shown.reduce((sum, { field, list }) => sum + unknownRows(meanings, field, list), 0)
  return (
    <section className={styles.card} aria-label={texts.title}>
      <strong>{texts.title}</strong>
      <p className={styles.quiet}>{texts.help}</p>
      {open > 0 && (
        <p role="status" className={styles.warning}>
          {texts.unknown(open, number(open))}
        </p>
      )}
      {shown.map(({ column, field, list, isWhole }) => (
        <div key={column} className={styles.stack}>
          <Values
            column={column}
            field={field}
            list={list}
            context={context}
            meaning={(one) => meaningOf(meanings, field, one)}
            choose={(text, meaning) => set({ ...meanings, [field]: { ...meanings[field], [valueKey(text)]: meaning } })}
          />
          {!isWhole && <p className={styles.quiet}>{texts.notWhole}</p>}
        </div>
      ))}
    </section>
  )
}

interface ValuesProps {
  column: string
  field: ChosenField
  list: readonly Value[]
  context: FieldContext
  meaning(one: Value): string | null | undefined
  choose(text: string, meaning: string | null): void
}

function Values({ column, field, list, context, meaning, choose }: ValuesProps) {
  const { values: texts, mapping } = t.transfer
  const choices = (choicesOf(field, context, '') ?? []).filter(({ value }) => value !== leftOut)
  return (
    <table className={styles.columns} aria-label={texts.of(column)}>
      <thead>
        <tr>
          <th scope="col">{column}</th>
          <th scope="col">{t.transfer.rows}</th>
          <th scope="col">{mapping.targets[field]}</th>
        </tr>
      </thead>
      <tbody>
        {list.map((one) => {
          const means = meaning(one)
          return (
            <tr key={one.text}>
              <th scope="row">{one.text}</th>
              <td className={styles.sample}>{number(one.count)}</td>
              <td>
                <Select
                  aria-label={texts.meaningOf(one.text)}
                  placeholder={texts.choose}
                  error={means === undefined}
                  data={[{ value: leftOut, label: texts.leaveEmpty }, ...choices]}
                  value={means === undefined ? null : (means ?? leftOut)}
                  onChange={(value) => value !== null && choose(one.text, value === leftOut ? null : value)}
                  allowDeselect={false}
                  searchable
                />
              </td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

const unknownRows = (meanings: Meanings, field: ChosenField, list: readonly Value[]): number =>
  list.reduce((sum, one) => sum + (meaningOf(meanings, field, one) === undefined ? one.count : 0), 0)
