import { Select } from '@mantine/core'
import type { Preview } from '../../data/imports.ts'
import { t } from '../../text/index.ts'
import { customTargetOf, fieldTargets, isField, type Mapping } from './mapping.ts'
import styles from './transfer.module.css'

interface ColumnMappingProps {
  preview: Preview
  mapping: Mapping
  set(column: string, target: string | null): void
}

const samples = 3
const leftOut = ''

/** A line for each column: its heading, what is in it, and the field that it fills. */
export function ColumnMapping({ preview, mapping, set }: ColumnMappingProps) {
  const { mapping: texts } = t.transfer
  return (
    <table className={styles.columns} aria-label={texts.title}>
      <thead>
        <tr>
          <th scope="col">{texts.column}</th>
          <th scope="col">{texts.samples}</th>
          <th scope="col">{texts.fills}</th>
        </tr>
      </thead>
      <tbody>
        {preview.columns.map(({ name }, at) => {
          const target = mapping.get(name) ?? null
          const cells = preview.rows.map((row) => row[at] ?? '').filter((cell) => cell !== '')
          return (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td className={styles.sample} dir="auto">
                {cells.slice(0, samples).join(' · ')}
              </td>
              <td>
                <Select<string>
                  aria-label={texts.fillsOf(name)}
                  data={optionsFor(name, target)}
                  value={target ?? leftOut}
                  onChange={(value) => set(name, value === leftOut ? null : value)}
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

interface Option {
  value: string
  label: string
}

function optionsFor(column: string, target: string | null): (Option | { group: string; items: Option[] })[] {
  const { mapping: texts } = t.transfer
  const own = [...new Set([target, customTargetOf(column)])].filter((one) => one !== null && !isField(one))
  return [
    { value: leftOut, label: texts.leftOut },
    { group: texts.fields, items: fieldTargets.map((value) => ({ value, label: texts.targets[value] })) },
    { group: texts.custom, items: own.map((value) => ({ value: value as string, label: value as string })) },
  ]
}
