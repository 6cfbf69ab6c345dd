import { Group, NumberInput, Switch } from '@mantine/core'
import type { Workspace } from '../data/workspace.ts'
import { t } from '../text/index.ts'
import { DraftSection, type SectionDraft, useWorkspaceDraft } from './draft/DraftSection.tsx'
import { WorkspaceBoundary } from './parts/WorkspaceBoundary.tsx'

type Retention = Workspace['retention']
type Field = keyof Retention

const fields: readonly Field[] = ['conversationsDays', 'activitiesDays', 'sendsDays', 'submissionsDays', 'auditDays']
const minDays = 30
const maxDays = 3650
/** Default when a limit is enabled. */
const defaultDays = 730

/** Retention periods of data that is otherwise kept forever. */
export const RetentionSection = () => (
  <WorkspaceBoundary>{(workspace) => <RetentionForm workspace={workspace} />}</WorkspaceBoundary>
)

type Days = Record<Field, number | string | null>

function RetentionForm({ workspace }: { workspace: Workspace }) {
  const texts = t.settings.retention
  const draft = useWorkspaceDraft<Days>(
    workspace,
    ({ retention }) => ({ ...retention }),
    (days) => ({ retention: asNumbers(days) }),
  )
  return (
    <DraftSection
      title={texts.title}
      help={draft.mayChange ? texts.help : t.settings.adminsOnly}
      draft={draft}
      isComplete={fields.every((field) => isInRange(draft.value[field]))}
    >
      {fields.map((field) => (
        <DaysField key={field} field={field} draft={draft} />
      ))}
    </DraftSection>
  )
}

function DaysField({ field, draft }: { field: Field; draft: SectionDraft<Days> }) {
  const texts = t.settings.retention
  const { name, help } = texts.fields[field]
  const days = draft.value[field]
  return (
    <Group align="flex-start" justify="space-between" gap="md">
      <Switch
        label={name}
        description={help}
        checked={days !== null}
        onChange={(event) => draft.set({ [field]: event.currentTarget.checked ? defaultDays : null } as Partial<Days>)}
        disabled={!draft.mayChange}
        maw={420}
      />
      {days !== null && (
        <NumberInput
          aria-label={texts.daysOf({ name })}
          suffix={` ${texts.days}`}
          w={140}
          min={minDays}
          max={maxDays}
          allowDecimal={false}
          clampBehavior="none"
          value={days}
          onChange={(value) => draft.set({ [field]: value } as Partial<Days>)}
          error={isInRange(days) ? undefined : texts.range}
          disabled={!draft.mayChange}
        />
      )}
    </Group>
  )
}

const isInRange = (days: number | string | null): boolean =>
  days === null || (days !== '' && Number(days) >= minDays && Number(days) <= maxDays)

function asNumbers(days: Days): Retention {
  const entries = fields.map((field) => [field, days[field] === null ? null : Number(days[field])] as const)
  return Object.fromEntries(entries) as Record<Field, number | null>
}
