import { ActionIcon, Button, Menu } from '@mantine/core'
import { IconTrash, IconX } from '@tabler/icons-react'
import { type BulkWish, useBulkActs } from '../data/bulk-changes.ts'
import type { Lead } from '../data/leads.ts'
import { t } from '../text/index.ts'
import { number } from '../ui/format/time.ts'
import { complain } from '../ui/overlay/notices.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { BulkAsk } from './bulk/BulkAsk.tsx'
import type { LeadVerbs } from './fields/change.ts'
import { choicesOf, type FieldContext } from './fields/columns.tsx'
import styles from './LeadsPage.module.css'
import { BulkLabels } from './labels/BulkLabels.tsx'
import { MergeButton } from './merge/MergeButton.tsx'
import { removeSelected, type Selection } from './table/use-selection.ts'

interface BulkBarProps {
  selection: Selection
  context: FieldContext
  verbs: LeadVerbs
  open(lead: Lead): void
}

const fields = ['status', 'assignedTo', 'priority', 'source'] as const

/** What can be done to all that are selected. */
export function BulkBar({ selection, context, verbs, open }: BulkBarProps) {
  const ids = [...selection.ids]
  const { begin } = useBulkActs(useWorkspaceId())
  const start = (wish: BulkWish) => {
    if (ids.length > 1) selection.ask(wish)
    else void begin({ ids, ...wish }).then(selection.clear, complain)
  }
  const remove = () => removeSelected(selection, verbs)
  return (
    <section className={styles.bulk} aria-label={t.leads.selected({ n: number(selection.count) })}>
      <strong>{t.leads.selected({ n: number(selection.count) })}</strong>
      {selection.offered !== null && !selection.isEverything && (
        <Button variant="subtle" size="compact-sm" onClick={selection.takeEverything}>
          {t.leads.bulk.everything({ n: number(selection.offered.total) })}
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
      <BulkLabels begin={start} />
      {ids.length === 2 && !selection.isEverything && (
        <MergeButton
          lead={{ id: ids[0] ?? '', name: '' }}
          otherId={ids[1] ?? null}
          people={context.people}
          merged={(lead) => {
            selection.clear()
            open(lead)
          }}
          label={t.merge.two}
        />
      )}
      <Button variant="default" size="compact-sm" leftSection={<IconTrash size={14} />} onClick={remove}>
        {t.common.delete}
      </Button>
      {selection.asked !== null && <BulkAsk selection={selection} wish={selection.asked} people={context.people} />}
      <ActionIcon variant="subtle" color="gray" aria-label={t.leads.clearSelection} onClick={selection.clear}>
        <IconX size={16} />
      </ActionIcon>
    </section>
  )
}
