import type { ReactNode } from 'react'
import type { MergePreview } from '../../data/merges.ts'
import type { People } from '../../data/people.ts'
import { t } from '../../text/index.ts'
import { formatAmount } from '../../ui/format/amount.ts'
import { statusName } from '../../ui/format/lead-texts.ts'
import { type FieldFormat, fieldText } from '../fields/field-columns.ts'
import { formatOptionalPhone, nameOf } from '../fields/lead.ts'
import { useFieldFormat } from '../fields/use-field-format.ts'
import styles from './merge.module.css'
import { type Choice, type Choices, keyOfCustom, type MergeRow, type mergeRows } from './merge-rows.ts'

interface ChoiceRowsProps {
  rows: ReturnType<typeof mergeRows>
  choices: Choices
  choose(id: string, choice: Choice): void
  leads: MergePreview
  people: People
}

/** Fields of both leads, conflicts first; equal ones are collapsed. */
export function ChoiceRows({ rows, choices, choose, leads, people }: ChoiceRowsProps) {
  const fieldFormat = useFieldFormat()
  const list = (some: readonly MergeRow[]) =>
    some.map((row) => (
      <Row
        key={row.id}
        choice={choices[row.id] ?? row.defaultChoice}
        {...{ row, choose, leads, people, fieldFormat }}
      />
    ))
  return (
    <>
      <h3 className={styles.heading}>{t.merge.conflicts}</h3>
      {rows.conflicts.length === 0 && <p className={styles.muted}>{t.merge.noConflicts}</p>}
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
                <dd>{valueText(row, row.kept, people, fieldFormat)}</dd>
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
  fieldFormat: FieldFormat
}

function Row({ row, choice, choose, leads, people, fieldFormat }: RowProps) {
  const words: Record<Choice, ReactNode> = {
    kept: valueText(row, row.kept, people, fieldFormat),
    other: valueText(row, row.other, people, fieldFormat),
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
          {whose[option] !== undefined && <span className={styles.ownerHint}>{whose[option]}</span>}
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
  fieldFormat: FieldFormat,
): ReactNode {
  if (value === null || value === '') return <em className={styles.muted}>{t.merge.empty}</em>
  if (typeof value === 'boolean') return value ? t.common.yes : t.common.no
  if (typeof value === 'number') return formatAmount(value, fieldFormat.currency)
  if (field === null) return fieldText(keyOfCustom(id), value, fieldFormat)
  switch (field) {
    case 'status':
      return statusName(value)
    case 'phone':
      return formatOptionalPhone(value)
    case 'assignedTo':
      return people.nameOf(value)
    case 'priority':
      return choiceText(t.lead.priorities, value)
    case 'source':
      return choiceText(t.lead.sources, value)
    case 'adPlatform':
      return choiceText(t.leads.platforms, value)
    default:
      return value
  }
}

const choiceText = (words: Readonly<Record<string, string>>, value: string): string => words[value] ?? value
