import type { Workspace } from '../../data/workspace.ts'
import { t } from '../../text/index.ts'
import { DraftSection, useWorkspaceDraft } from '../draft/DraftSection.tsx'
import { AwayFields, filledAway, isAwayFilled } from './AwayFields.tsx'

/** What customers get who write outside of business hours. */
export function AwaySection({ workspace }: { workspace: Workspace }) {
  const texts = t.settings.away
  const draft = useWorkspaceDraft(
    workspace,
    ({ awayMessage }) => ({ awayMessage }),
    ({ awayMessage }) => ({ awayMessage: awayMessage === null ? null : filledAway(awayMessage) }),
  )
  const { awayMessage } = draft.value
  return (
    <DraftSection
      title={texts.title}
      help={workspace.hours === null ? t.settings.holidays.needsHours : texts.help}
      draft={draft}
      isComplete={isAwayFilled(awayMessage)}
    >
      <AwayFields
        value={awayMessage}
        change={(changed) => draft.set({ awayMessage: changed })}
        label={texts.isOn}
        help={texts.isOnHelp}
        disabled={!draft.mayChange}
      />
    </DraftSection>
  )
}
