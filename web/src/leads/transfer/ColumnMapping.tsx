import { Select, TextInput } from '@mantine/core'
import type { Preview } from '../../data/imports.ts'
import { useLeadFields } from '../../data/lead-fields.ts'
import { t } from '../../text/index.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import {
  customTargetOf,
  type DefinedTarget,
  definedTargets,
  fieldTargets,
  isField,
  labelOf,
  type Mapping,
} from './mapping.ts'
import styles from './transfer.module.css'

interface ColumnMappingProps {
  preview: Preview
  mapping: Mapping
  set(column: string, target: string | null): void
  /** Labels of custom fields, if set. */
  labels: Readonly<Record<string, string>>
  name(target: string, label: string): void
}

const samples = 3
const leftOut = ''

/** A row for each column: header, sample values, and the target field. */
export function ColumnMapping({ preview, mapping, set, labels, name: call }: ColumnMappingProps) {
  const { mapping: texts } = t.transfer
  const defined = definedTargets(useLeadFields(useWorkspaceId()))
  const isOwn = (target: string) => isField(target) || defined.some(({ value }) => value === target)
  return (
    <table className={styles.columns} aria-label={texts.title}>
      <thead>
        <tr>
          <th scope="col">{texts.column}</th>
          <th scope="col">{texts.samples}</th>
          <th scope="col">{texts.target}</th>
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
                  aria-label={texts.targetOf({ column: name })}
                  data={optionsFor(name, at, target, labels, defined)}
                  value={target ?? leftOut}
                  onChange={(value) => set(name, value === leftOut ? null : value)}
                  allowDeselect={false}
                  searchable
                />
                {target !== null && !isOwn(target) && (
                  <TextInput
                    mt={4}
                    size="xs"
                    label={texts.fieldName}
                    aria-label={texts.nameOf({ column: name })}
                    placeholder={labelOf(name, target)}
                    maxLength={200}
                    value={labels[target] ?? labelOf(name, target)}
                    onChange={(event) => call(target, event.currentTarget.value)}
                  />
                )}
              </td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

function optionsFor(
  column: string,
  at: number,
  target: string | null,
  labels: Readonly<Record<string, string>>,
  defined: readonly DefinedTarget[],
): (DefinedTarget | { group: string; items: DefinedTarget[] })[] {
  const { mapping: texts } = t.transfer
  const own = new Set([target ?? [], customTargetOf(column, at)].flat())
  const custom = [...own].filter((one) => !isField(one) && defined.every(({ value }) => value !== one))
  return [
    { value: leftOut, label: texts.skip },
    { group: texts.fields, items: fieldTargets.map((value) => ({ value, label: texts.targets[value] })) },
    ...(defined.length > 0 ? [{ group: t.fields.ofWorkspace, items: [...defined] }] : []),
    {
      group: texts.custom,
      items: custom.map((value) => ({
        value,
        label: texts.customField({ name: labels[value] || labelOf(column, value) }),
      })),
    },
  ]
}
