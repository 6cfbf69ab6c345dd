import { NumberInput, Switch } from '@mantine/core'
import type { Workspace } from '../../data/workspace.ts'
import { DraftSection, useWorkspaceDraft } from './DraftSection.tsx'

const maxMinutes = 10_080

interface MinutesSectionProps {
  workspace: Workspace
  field: 'agentWatchdogMinutes' | 'answerGoalMinutes'
  /** Default when it is enabled. */
  defaultMinutes: number
  texts: { title: string; isOn: string; help: string; minutes: string }
}

/** A setting in minutes, or disabled. */
export function MinutesSection({ workspace, field, defaultMinutes, texts }: MinutesSectionProps) {
  const draft = useWorkspaceDraft<Record<string, number | string | null>>(
    workspace,
    (from) => ({ [field]: from[field] }),
    ({ [field]: minutes = null }) => ({ [field]: minutes === null ? null : Number(minutes) }),
  )
  const { [field]: minutes = null } = draft.value
  return (
    <DraftSection title={texts.title} draft={draft} isComplete={minutes !== ''}>
      <Switch
        label={texts.isOn}
        description={texts.help}
        checked={minutes !== null}
        onChange={(event) => draft.set({ [field]: event.currentTarget.checked ? defaultMinutes : null })}
        disabled={!draft.mayChange}
      />
      {minutes !== null && (
        <NumberInput
          label={texts.minutes}
          w={220}
          min={1}
          max={maxMinutes}
          allowDecimal={false}
          value={minutes}
          onChange={(value) => draft.set({ [field]: value })}
          error={draft.errorOf(field)}
          disabled={!draft.mayChange}
        />
      )}
    </DraftSection>
  )
}
