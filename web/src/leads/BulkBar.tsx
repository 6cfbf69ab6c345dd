import { ActionIcon, Button, Menu } from '@mantine/core'
import { IconTrash, IconX } from '@tabler/icons-react'
import type { BulkAction } from '../data/leads.ts'
import { t } from '../text/index.ts'
import { number } from '../ui/format/time.ts'
import type { LeadVerbs } from './fields/change.ts'
import { choicesOf, type FieldContext } from './fields/columns.tsx'
import styles from './LeadsPage.module.css'
import { removeSelected, type Selection } from './table/use-selection.ts'

interface BulkBarProps {
  selection: Selection
  context: FieldContext
  verbs: LeadVerbs
}

const fields = ['status', 'assignedTo', 'priority', 'source'] as const

/** What can be done to all that are selected. */
export function BulkBar({ selection, context, verbs }: BulkBarProps) {
  const ids = [...selection.ids]
  const set = (changes: NonNullable<BulkAction['changes']>) => void verbs.bulk(ids, changes).then(selection.clear)
  const remove = () => removeSelected(selection, verbs)
  return (
    <section className={styles.bulk} aria-label={t.leads.selected(number(ids.length))}>
      <strong>{t.leads.selected(number(ids.length))}</strong>
      {fields.map((field) => (
        <Menu key={field} position="top">
          <Menu.Target>
            <Button variant="default" size="compact-sm">
              {t.leads.fields[field]}
            </Button>
          </Menu.Target>
          <Menu.Dropdown className={styles.choices}>
            <Menu.Label>{t.leads.bulk.set(t.leads.fields[field])}</Menu.Label>
            {(choicesOf(field, context, '') ?? []).map(({ value, label }) => (
              <Menu.Item key={value} onClick={() => set({ [field]: value === '' ? null : value })}>
                {label}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      ))}
      <Button variant="default" size="compact-sm" leftSection={<IconTrash size={14} />} onClick={remove}>
        {t.common.delete}
      </Button>
      <ActionIcon variant="subtle" color="gray" aria-label={t.leads.clearSelection} onClick={selection.clear}>
        <IconX size={16} />
      </ActionIcon>
    </section>
  )
}
