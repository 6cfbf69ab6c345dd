import type { ReactNode } from 'react'
import type { MergePreview } from '../../data/merges.ts'
import type { People } from '../../data/people.ts'
import { t } from '../../text/index.ts'
import { shownAmount } from '../../ui/format/amount.ts'
import { statusName } from '../../ui/format/lead-words.ts'
import { type FieldWords, fieldText } from '../fields/field-columns.ts'
import { nameOf, phoneWords } from '../fields/lead.ts'
import { useFieldWords } from '../fields/use-field-words.ts'
import styles from './merge.module.css'
import { type Choice, type Choices, keyOfCustom, type MergeRow, type mergeRows } from './merge-rows.ts'

interface ChoiceRowsProps {
  rows: ReturnType<typeof mergeRows>
  choices: Choices
  choose(id: string, choice: Choice): void
  leads: MergePreview
  people: People
}

/** The fields of both, those that contradict first; what is the same is folded away. */
export function ChoiceRows({ rows, choices, choose, leads, people }: ChoiceRowsProps) {
  const fieldWords = useFieldWords()
  const list = (some: readonly MergeRow[]) =>
    some.map((row) => (
      <Row key={row.id} choice={choices[row.id] ?? row.usual} {...{ row, choose, leads, people, fieldWords }} />
    ))
  return (
    <>
      <h3 className={styles.heading}>{t.merge.conflicts}</h3>
      {rows.conflicts.length === 0 && <p className={styles.quiet}>{t.merge.noConflicts}</p>}
      {list(rows.conflicts)}
      {rows.filled.length > 0 && <h3 className={styles.heading}>{t.merge.filled}</h3>}
      {list(rows.filled)}
      {rows.same.length > 0 && (
        <details className={styles.same}>
          <summary>{t.merge.same({ n: rows.same.length })}</summary>
          <dl>
            {rows.same.map((row) => (
              <div key={row.id}>
                <dt>{labelOf(row)}</dt>
                <dd>{valueText(row, row.kept, people, fieldWords)}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </>
  )
}

interface RowProps extends Pick<ChoiceRowsProps, 'choose' | 'leads' | 'people'> {
  row: MergeRow
  choice: Choice
  fieldWords: FieldWords
}

function Row({ row, choice, choose, leads, people, fieldWords }: RowProps) {
  const words: Record<Choice, ReactNode> = {
    kept: valueText(row, row.kept, people, fieldWords),
    other: valueText(row, row.other, people, fieldWords),
    both: t.merge.both,
    none: t.merge.none,
  }
  const whose: Partial<Record<Choice, string>> = { kept: nameOf(leads.kept), other: nameOf(leads.other) }
  return (
    <fieldset className={styles.row}>
      <legend>{labelOf(row)}</legend>
      {row.options.map((option) => (
        <label
          key={option}
          className={styles.option}
          data-on={option === choice || undefined}
          data-also={option === 'both' || option === 'none' || undefined}
        >
          <input
            type="radio"
            name={`merge-${row.id}`}
            checked={option === choice}
            onChange={() => choose(row.id, option)}
          />
          <span className={styles.value} dir="auto">
            {words[option]}
          </span>
          {whose[option] !== undefined && <span className={styles.whose}>{whose[option]}</span>}
        </label>
      ))}
    </fieldset>
  )
}

const labelOf = ({ field, label }: MergeRow): string => (field === null ? (label ?? '') : t.leads.fields[field])

function valueText(
  { id, field }: MergeRow,
  value: MergeRow['kept'],
  people: People,
  fieldWords: FieldWords,
): ReactNode {
  if (value === null || value === '') return <em className={styles.quiet}>{t.merge.empty}</em>
  if (typeof value === 'boolean') return value ? t.common.yes : t.common.no
  if (typeof value === 'number') return shownAmount(value, fieldWords.currency)
  if (field === null) return fieldText(keyOfCustom(id), value, fieldWords)
  switch (field) {
    case 'status':
      return statusName(value)
    case 'phone':
      return phoneWords(value)
    case 'assignedTo':
      return people.nameOf(value)
    case 'priority':
      return wordOf(t.lead.priorities, value)
    case 'source':
      return wordOf(t.lead.sources, value)
    case 'adPlatform':
      return wordOf(t.leads.platforms, value)
    default:
      return value
  }
}

const wordOf = (words: Readonly<Record<string, string>>, value: string): string => words[value] ?? value
