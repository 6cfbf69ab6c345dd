import { Switch, Textarea } from '@mantine/core'
import type { AwayMessage } from '../../data/team/services.ts'
import type { Workspace } from '../../data/workspace.ts'
import { t } from '../../text/index.ts'
import { languageName } from '../../ui/format/language-name.ts'
import { DraftSection, useWorkspaceDraft } from '../draft/DraftSection.tsx'

const languages = ['en', 'es', 'pt'] as const

const emptyAway: AwayMessage = { texts: {}, withAgents: false }

/** Without texts that are empty. */
export function filledAway({ texts, withAgents }: AwayMessage): AwayMessage {
  const filled = languages.flatMap((language) => {
    const text = texts[language]?.trim() ?? ''
    return text === '' ? [] : [[language, text] as const]
  })
  return { texts: Object.fromEntries(filled), withAgents }
}

export const isAwayFilled = (away: AwayMessage | null): boolean =>
  away === null || Object.keys(filledAway(away).texts).length > 0

interface AwayFieldsProps {
  value: AwayMessage | null
  change(value: AwayMessage | null): void
  label: string
  help: string
  disabled: boolean
}

/** An away message, or none. */
export function AwayFields({ value, change, label, help, disabled }: AwayFieldsProps) {
  const texts = t.settings.away
  return (
    <>
      <Switch
        label={label}
        description={help}
        checked={value !== null}
        onChange={(event) => change(event.currentTarget.checked ? emptyAway : null)}
        disabled={disabled}
      />
      {value !== null && (
        <>
          {languages.map((language) => (
            <Textarea
              key={language}
              label={languageName(language)}
              value={value.texts[language] ?? ''}
              maxLength={1000}
              autosize
              minRows={2}
              onChange={(event) =>
                change({ ...value, texts: { ...value.texts, [language]: event.currentTarget.value } })
              }
              disabled={disabled}
            />
          ))}
          <Switch
            label={texts.withAgents}
            checked={value.withAgents}
            onChange={(event) => change({ ...value, withAgents: event.currentTarget.checked })}
            disabled={disabled}
          />
        </>
      )}
    </>
  )
}

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
