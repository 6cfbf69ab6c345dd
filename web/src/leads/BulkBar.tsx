import { ActionIcon, Button, Menu } from '@mantine/core'
import { IconTrash, IconX } from '@tabler/icons-react'
import { type BulkChangeInput, useBulkChangeActions } from '../data/bulk-changes.ts'
import { useLabelsById } from '../data/labels.ts'
import type { Lead } from '../data/leads.ts'
import { useSequences } from '../data/outreach/sequences.ts'
import type { People } from '../data/people.ts'
import { t } from '../text/index.ts'
import { formatNumber } from '../ui/format/time.ts'
import { Confirm } from '../ui/overlay/Confirm.tsx'
import { showError } from '../ui/overlay/toasts.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { changeText } from './bulk/bulk-texts.ts'
import type { LeadActions } from './fields/change.ts'
import { choicesOf, type FieldContext } from './fields/columns.tsx'
import styles from './LeadsPage.module.css'
import { LabelButton } from './labels/LeadLabels.tsx'
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
export default function BulkBar({ selection, context, actions, open }: BulkBarProps) {
  const ids = [...selection.ids]
  const workspaceId = useWorkspaceId()
  const { submit } = useBulkChangeActions(workspaceId)
  const sequences = (useSequences(workspaceId).data ?? []).filter(({ enabled }) => enabled)
  const start = (input: BulkChangeInput) => {
    if (ids.length > 1) selection.confirmChange(input)
    else void submit({ ids, ...input }).then(selection.clear, showError)
  }
  return (
    <section className={styles.bulk} aria-label={t.leads.selected({ n: formatNumber(selection.count) })}>
      <strong>{t.leads.selected({ n: formatNumber(selection.count) })}</strong>
      {selection.allMatching !== null && !selection.isAllMatching && (
        <Button variant="subtle" size="compact-sm" onClick={selection.selectAllMatching}>
          {t.leads.bulk.everything({ n: formatNumber(selection.allMatching.total) })}
        </Button>
      )}
      {fields.map((field) => (
        <ChoiceMenu
          key={field}
          title={t.leads.fields[field]}
          help={t.leads.bulk.set({ field: t.leads.fields[field].toLowerCase() })}
          choices={choicesOf(field, context, '') ?? []}
          choose={(value) => start({ changes: { [field]: value === '' ? null : value } })}
        />
      ))}
      {(['addLabelIds', 'removeLabelIds'] as const).map((operation) => (
        <LabelButton
          key={operation}
          variant="default"
          hasLabel={() => false}
          set={(id) => start({ labels: { [operation]: [id] } })}
          isOne
        >
          {operation === 'addLabelIds' ? t.views.labels.add : t.views.labels.remove}
        </LabelButton>
      ))}
      {sequences.length > 0 && (
        <ChoiceMenu
          title={t.leads.bulk.sequence}
          choices={sequences.map(({ id, name }) => ({ value: id, label: name }))}
          choose={(sequenceId) => start({ sequenceId })}
        />
      )}
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
      <Button
        variant="default"
        size="compact-sm"
        leftSection={<IconTrash size={14} />}
        onClick={() => removeSelected(selection, actions)}
      >
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

/** Confirms a bulk change, with the number of leads and the changes. */
function BulkDialog({ selection, input, people }: { selection: Selection; input: BulkChangeInput; people: People }) {
  const workspaceId = useWorkspaceId()
  const { submit } = useBulkChangeActions(workspaceId)
  const labels = useLabelsById(workspaceId)
  const { bulk } = t.leads
  const leads = t.leads.count({ n: selection.count })
  const words = input.delete ? bulk.confirmDelete : bulk.confirm
  return (
    <Confirm
      isReversible={!input.delete}
      title={words.title({ leads })}
      action={words.action({ leads })}
      run={() => submit({ ...whichOf(selection), ...input }).then(selection.clear, showError)}
      close={() => selection.confirmChange(null)}
    >
      <p>
        <strong>{changeText(input, people, labels)}</strong>
      </p>
      <p>{input.delete ? bulk.deleteHelp : bulk.help}</p>
    </Confirm>
  )
}

/** Returns the leads by id, or by the query that selects them. */
function whichOf({ ids, allMatching, isAllMatching }: Selection) {
  if (!isAllMatching || allMatching === null) return { ids: [...ids] }
  const { sortBy: _, sortOrder: __, sortLanguage: ___, ...filter } = allMatching.query
  return { filter }
}

interface ChoiceMenuProps {
  title: string
  help?: string
  choices: readonly { value: string; label: string }[]
  choose(value: string): void
}

function ChoiceMenu({ title, help, choices, choose }: ChoiceMenuProps) {
  return (
    <Menu position="top">
      <Menu.Target>
        <Button variant="default" size="compact-sm">
          {title}
        </Button>
      </Menu.Target>
      <Menu.Dropdown className={styles.choices}>
        {help !== undefined && <Menu.Label>{help}</Menu.Label>}
        {choices.map(({ value, label }) => (
          <Menu.Item key={value} onClick={() => choose(value)}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
