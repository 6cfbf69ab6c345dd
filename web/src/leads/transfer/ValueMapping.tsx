import { Select } from '@mantine/core'
import type { ColumnValues } from '../../data/imports.ts'
import { t } from '../../text/index.ts'
import { formatNumber } from '../../ui/format/time.ts'
import { choicesOf, type FieldContext } from '../fields/columns.tsx'
import { type ColumnTarget, definedTargets, isChosen, meaningOf, type ValueMeanings, valueKey } from './mapping.ts'
import styles from './transfer.module.css'

interface ValueMappingProps {
  columns: readonly ColumnTarget[]
  /** By column index; undefined while loading. */
  values: readonly (ColumnValues | undefined)[]
  meanings: ValueMeanings
  set(meanings: ValueMeanings): void
  context: FieldContext
}

type Value = ColumnValues['values'][number]

const leftOut = ''

/** Maps values of the file to statuses, sources or options. Rows with unmapped values are rejected. */
export function ValueMapping({ columns, values, meanings, set, context }: ValueMappingProps) {
  const { values: texts } = t.transfer
  // Values that match exactly need no mapping.
  const shown = columns.flatMap((one, n) => {
    const list = values[n]?.values.filter(({ text, value }) => text !== value && valueKey(text) !== value) ?? []
    return list.length === 0 ? [] : [{ ...one, list, isWhole: values[n]?.isWhole !== false }]
  })
  if (shown.length === 0) return null
  const open = shown.reduce((sum, { target, list }) => sum + unknownRows(meanings, target, list), 0)
  return (
    <section className={styles.card} aria-label={texts.title}>
      <strong>{texts.title}</strong>
      <p className={styles.muted}>{texts.help}</p>
      {open > 0 && (
        <p role="status" className={styles.warning}>
          {texts.unknown({ n: open })}
        </p>
      )}
      {shown.map(({ column, target, list, isWhole }) => (
        <div key={column} className={styles.stack}>
          <Values
            column={column}
            {...namedTarget(target, context)}
            list={list}
            meaning={(one) => meaningOf(meanings, target, one)}
            choose={(text, meaning) =>
              set({ ...meanings, [target]: { ...meanings[target], [valueKey(text)]: meaning } })
            }
          />
          {!isWhole && <p className={styles.muted}>{texts.notWhole}</p>}
        </div>
      ))}
    </section>
  )
}

interface NamedTarget {
  name: string
  choices: readonly { value: string; label: string }[]
}

/** Returns the label of a target and its possible values. */
function namedTarget(target: string, context: FieldContext): NamedTarget {
  if (isChosen(target)) {
    const choices = (choicesOf(target, context, '') ?? []).filter(({ value }) => value !== leftOut)
    return { name: t.transfer.mapping.targets[target], choices }
  }
  const field = context.fields.find((one) => definedTargets([one])[0]?.value === target)
  return { name: field?.label ?? target, choices: (field?.choices ?? []).map((value) => ({ value, label: value })) }
}

interface ValuesProps extends NamedTarget {
  column: string
  list: readonly Value[]
  meaning(one: Value): string | null | undefined
  choose(text: string, meaning: string | null): void
}

function Values({ column, name, choices, list, meaning, choose }: ValuesProps) {
  const { values: texts } = t.transfer
  return (
    <table className={styles.columns} aria-label={texts.of({ column })}>
      <thead>
        <tr>
          <th scope="col">{column}</th>
          <th scope="col">{t.transfer.rows}</th>
          <th scope="col">{name}</th>
        </tr>
      </thead>
      <tbody>
        {list.map((one) => {
          const means = meaning(one)
          return (
            <tr key={one.text}>
              <th scope="row">{one.text}</th>
              <td className={styles.sample}>{formatNumber(one.count)}</td>
              <td>
                <Select
                  aria-label={texts.meaningOf({ text: one.text })}
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

const unknownRows = (meanings: ValueMeanings, target: string, list: readonly Value[]): number =>
  list.reduce((sum, one) => sum + (meaningOf(meanings, target, one) === undefined ? one.count : 0), 0)
