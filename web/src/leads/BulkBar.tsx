import { ActionIcon, Button, Menu } from '@mantine/core'
import { IconTrash, IconX } from '@tabler/icons-react'
import { type BulkChangeInput, useBulkChangeActions } from '../data/bulk-changes.ts'
import type { Lead } from '../data/leads.ts'
import { t } from '../text/index.ts'
import { formatNumber } from '../ui/format/time.ts'
import { showError } from '../ui/overlay/toasts.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { BulkDialog } from './bulk/BulkDialog.tsx'
import { BulkSequence } from './bulk/BulkSequence.tsx'
import type { LeadActions } from './fields/change.ts'
import { choicesOf, type FieldContext } from './fields/columns.tsx'
import styles from './LeadsPage.module.css'
import { BulkLabels } from './labels/BulkLabels.tsx'
import { MergeButton } from './merge/MergeButton.tsx'
import { removeSelected, type Selection } from './table/use-selection.ts'

interface BulkBarProps {
  selection: Selection
  context: FieldContext
  actions: LeadActions
  open(lead: Lead): void
}

const fields = ['status', 'assignedTo', 'priority', 'source'] as const

/** Actions on the selected leads. */
export function BulkBar({ selection, context, actions, open }: BulkBarProps) {
  const ids = [...selection.ids]
  const { submit } = useBulkChangeActions(useWorkspaceId())
  const start = (input: BulkChangeInput) => {
    if (ids.length > 1) selection.confirmChange(input)
    else void submit({ ids, ...input }).then(selection.clear, showError)
  }
  const remove = () => removeSelected(selection, actions)
  return (
    <section className={styles.bulk} aria-label={t.leads.selected({ n: formatNumber(selection.count) })}>
      <strong>{t.leads.selected({ n: formatNumber(selection.count) })}</strong>
      {selection.allMatching !== null && !selection.isAllMatching && (
        <Button variant="subtle" size="compact-sm" onClick={selection.selectAllMatching}>
          {t.leads.bulk.everything({ n: formatNumber(selection.allMatching.total) })}
        </Button>
      )}
      {fields.map((field) => (
        <Menu key={field} position="top">
          <Menu.Target>
            <Button variant="default" size="compact-sm">
              {t.leads.fields[field]}
            </Button>
          </Menu.Target>
          <Menu.Dropdown className={styles.choices}>
            <Menu.Label>{t.leads.bulk.set({ field: t.leads.fields[field].toLowerCase() })}</Menu.Label>
            {(choicesOf(field, context, '') ?? []).map(({ value, label }) => (
              <Menu.Item key={value} onClick={() => start({ changes: { [field]: value === '' ? null : value } })}>
                {label}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      ))}
      <BulkLabels start={start} />
      <BulkSequence start={start} />
      {ids.length === 2 && !selection.isAllMatching && (
        <MergeButton
          lead={{ id: ids[0] ?? '', name: '' }}
          otherId={ids[1] ?? null}
          people={context.people}
          onMerged={(lead) => {
            selection.clear()
            open(lead)
          }}
          label={t.merge.two}
        />
      )}
      <Button variant="default" size="compact-sm" leftSection={<IconTrash size={14} />} onClick={remove}>
        {t.common.delete}
      </Button>
      {selection.pendingChange !== null && (
        <BulkDialog selection={selection} input={selection.pendingChange} people={context.people} />
      )}
      <ActionIcon variant="subtle" color="gray" aria-label={t.leads.clearSelection} onClick={selection.clear}>
        <IconX size={16} />
      </ActionIcon>
    </section>
  )
}
