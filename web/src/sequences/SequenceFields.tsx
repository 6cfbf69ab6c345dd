import { Alert, Checkbox, MultiSelect, Select, TextInput } from '@mantine/core'
import { useConnections } from '../data/connections.ts'
import { useForms } from '../data/forms.ts'
import { useLabelsById } from '../data/labels.ts'
import type { SequenceDraft } from '../data/outreach/sequences.ts'
import { useStatuses } from '../data/workspace.ts'
import { t } from '../text/index.ts'
import { statusName } from '../ui/format/lead-texts.ts'
import type { Draft } from '../ui/use-draft.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './Sequences.module.css'
import { StepList } from './StepList.tsx'

interface SequenceFieldsProps {
  draft: Draft<SequenceDraft>
  /** Fields that name what cannot be sent or is gone. */
  problems?: readonly string[]
  isReadOnly?: boolean
  isNew?: boolean
}

/** What a sequence does, when it ends and what starts it. */
export function SequenceFields({ draft, problems = [], isReadOnly = false, isNew = false }: SequenceFieldsProps) {
  const workspaceId = useWorkspaceId()
  const texts = t.sequences
  const { value, set, errorOf } = draft
  const named = (list: readonly { id: string; name: string }[] = []) =>
    list.map(({ id, name }) => ({ value: id, label: name }))
  const statuses = useStatuses(workspaceId)
  return (
    <fieldset disabled={isReadOnly} className={styles.form} style={{ border: 0, margin: 0, padding: 0, minWidth: 0 }}>
      {problems.length > 0 && (
        <Alert color="red" title={texts.hasProblems}>
          {texts.problemsHelp({ fields: problems.join(', ') })}
        </Alert>
      )}
      <TextInput
        label={texts.name}
        value={value.name}
        maxLength={100}
        error={errorOf('name')}
        onChange={(event) => set({ name: event.currentTarget.value })}
        {...(isNew && { 'data-autofocus': true })}
      />
      <Select
        label={texts.connection}
        data={named(useConnections(workspaceId).data)}
        value={value.connectionId}
        allowDeselect={false}
        error={errorOf('connectionId')}
        onChange={(connectionId) => connectionId !== null && set({ connectionId })}
      />
      <StepList draft={draft} />
      <p className={styles.help}>{texts.endsHelp}</p>
      <MultiSelect
        label={texts.endStatuses}
        data={[...new Set([...statuses, ...value.endStatuses])].map((status) => ({
          value: status,
          label: statusName(status),
        }))}
        value={value.endStatuses}
        error={errorOf('endStatuses')}
        onChange={(endStatuses) => set({ endStatuses })}
      />
      <MultiSelect
        label={texts.forms}
        description={texts.formsHelp}
        data={named(useForms(workspaceId).data)}
        value={value.formIds}
        maxValues={20}
        searchable
        error={errorOf('formIds')}
        onChange={(formIds) => set({ formIds })}
      />
      <MultiSelect
        label={texts.labels}
        description={texts.labelsHelp}
        data={named([...useLabelsById(workspaceId).values()])}
        value={value.labelIds}
        maxValues={20}
        searchable
        error={errorOf('labelIds')}
        onChange={(labelIds) => set({ labelIds })}
      />
      <Checkbox
        label={texts.forAgents}
        description={texts.forAgentsHelp}
        checked={value.forAgents}
        onChange={(event) => set({ forAgents: event.currentTarget.checked })}
      />
    </fieldset>
  )
}
