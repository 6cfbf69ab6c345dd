import { Button, NumberInput, Switch } from '@mantine/core'
import type { Workspace } from '../../data/workspace.ts'
import { useWorkspaceChange } from '../../data/workspace-change.ts'
import { mayIn } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import { complain } from '../../ui/overlay/notices.tsx'
import { Section } from '../../ui/page/Section.tsx'
import { useDraft } from '../../ui/use-draft.ts'

const usualMinutes = 15
const longestMinutes = 10_080

const draftOf = ({ answerGoalMinutes }: Workspace) => ({
  isOn: answerGoalMinutes !== null,
  answerGoalMinutes: (answerGoalMinutes ?? usualMinutes) as number | string,
})

/** After how long people are told that a customer waits. */
export function AnswerGoal({ workspace }: { workspace: Workspace }) {
  const texts = t.settings.goal
  const draft = useDraft(draftOf(workspace))
  const { value, set } = draft
  const change = useWorkspaceChange(workspace, t.settings.saved)
  const mayChange = mayIn(workspace.id, 'admin')
  const save = () =>
    change.mutate(
      { answerGoalMinutes: value.isOn ? Number(value.answerGoalMinutes) : null },
      {
        onSuccess: (changed) => draft.reset(draftOf(changed)),
        onError: (error) => draft.refuse(error) || complain(error),
      },
    )
  return (
    <Section
      title={texts.title}
      submit={save}
      footer={
        mayChange && (
          <Button type="submit" disabled={!draft.isChanged} loading={change.isPending}>
            {t.common.save}
          </Button>
        )
      }
    >
      <Switch
        label={texts.isOn}
        description={texts.help}
        checked={value.isOn}
        onChange={(event) => set({ isOn: event.currentTarget.checked })}
        disabled={!mayChange}
      />
      {value.isOn && (
        <NumberInput
          label={texts.minutes}
          w={220}
          min={1}
          max={longestMinutes}
          allowDecimal={false}
          value={value.answerGoalMinutes}
          onChange={(answerGoalMinutes) => set({ answerGoalMinutes })}
          error={draft.errorOf('answerGoalMinutes')}
          disabled={!mayChange}
        />
      )}
    </Section>
  )
}
