import { MultiSelect, NumberInput, Radio, Stack, Switch, Textarea, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useConnections } from '../../data/connections.ts'
import {
  changeSatisfaction,
  type SatisfactionSettings,
  satisfactionKey,
  useSatisfactionSettings,
} from '../../data/team/satisfaction.ts'
import { t } from '../../text/index.ts'
import { checkField, textField } from '../../ui/draft-fields.ts'
import { showToast } from '../../ui/overlay/toasts.tsx'
import { QueryBoundary } from '../../ui/page/PageBody.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { DraftSection, type SectionDraft, useSectionDraft } from '../draft/DraftSection.tsx'
import { RatingsSection } from './RatingsSection.tsx'

/** What customers are asked after a conversation was closed, and what they answered. */
export function SatisfactionSection() {
  const query = useSatisfactionSettings(useWorkspaceId())
  return (
    <Stack gap="md">
      <QueryBoundary query={query}>{(settings) => <SettingsForm settings={settings} />}</QueryBoundary>
      <RatingsSection />
    </Stack>
  )
}

interface SettingsDraft extends Omit<SatisfactionSettings, 'template' | 'waitMinutes' | 'everyDays'> {
  /** Empty while it is being typed. */
  waitMinutes: number | ''
  everyDays: number | ''
  /** Name and language as typed; without a name there is no template. */
  template: string
  language: string
}

/** What the server proposes, in English: customers read it, so it is proposed in the language of who switches it on. */
const english = 'How satisfied are you with our help?'
const proposed = () => ({
  question: t.settings.satisfaction.proposedQuestion,
  buttonText: t.settings.satisfaction.proposedButton,
})

const draftOf = ({ template, ...settings }: SatisfactionSettings): SettingsDraft => ({
  ...settings,
  ...(!settings.isEnabled && settings.question === english && proposed()),
  template: template?.name ?? '',
  language: template?.language ?? '',
})

function inputOf({ template, language, waitMinutes, everyDays, ...rest }: SettingsDraft): SatisfactionSettings {
  const name = template.trim()
  return {
    ...rest,
    waitMinutes: Number(waitMinutes),
    everyDays: Number(everyDays),
    template: name === '' ? null : { name, language: language.trim() },
  }
}

function SettingsForm({ settings }: { settings: SatisfactionSettings }) {
  const workspaceId = useWorkspaceId()
  const texts = t.settings.satisfaction
  const queries = useQueryClient()
  const draft = useSectionDraft(draftOf(settings), async (value) => {
    const changed = await changeSatisfaction(workspaceId, inputOf(value))
    queries.setQueryData(satisfactionKey(workspaceId), changed)
    showToast(t.settings.saved)
    return draftOf(changed)
  })
  const { mayChange } = draft
  return (
    <DraftSection title={texts.title} help={mayChange ? texts.help : t.settings.adminsOnly} draft={draft}>
      <Switch label={texts.isOn} description={texts.isOnHelp} {...checkField(draft, 'isEnabled')} />
      <QuestionFields draft={draft} />
      <WhenFields draft={draft} />
    </DraftSection>
  )
}

interface FieldsProps {
  draft: SectionDraft<SettingsDraft>
}

function QuestionFields({ draft }: FieldsProps) {
  const texts = t.settings.satisfaction
  const disabled = !draft.mayChange
  return (
    <>
      <Textarea label={texts.question} {...textField(draft, 'question')} maxLength={1024} autosize />
      <Radio.Group
        label={texts.scale}
        value={String(draft.value.scale)}
        onChange={(scale) => draft.set({ scale: scale === '3' ? 3 : 5 })}
      >
        <Stack gap={8} mt={6}>
          <Radio value="5" label={texts.stars} disabled={disabled} />
          <Radio value="3" label={texts.faces} disabled={disabled} />
        </Stack>
      </Radio.Group>
      {draft.value.scale === 5 && (
        <TextInput
          label={texts.buttonText}
          description={texts.buttonTextHelp}
          w={220}
          {...textField(draft, 'buttonText')}
          maxLength={20}
        />
      )}
    </>
  )
}

function WhenFields({ draft }: FieldsProps) {
  const { value, set, errorOf } = draft
  const disabled = !draft.mayChange
  const texts = t.settings.satisfaction
  const { data: connections = [] } = useConnections(useWorkspaceId())
  const number = (name: 'waitMinutes' | 'everyDays', min: number, max: number) => (
    <NumberInput
      label={texts[name]}
      w={220}
      min={min}
      max={max}
      allowDecimal={false}
      value={value[name]}
      onChange={(next) => set({ [name]: next === '' ? '' : Number(next) })}
      error={errorOf(name)}
      disabled={disabled}
    />
  )
  return (
    <>
      {number('waitMinutes', 2, 10_080)}
      {number('everyDays', 1, 365)}
      <MultiSelect
        label={texts.connections}
        description={texts.connectionsHelp}
        data={connections
          .filter(({ channel }) => channel !== 'unofficial')
          .map(({ id, name }) => ({ value: id, label: name }))}
        value={value.connectionIds}
        onChange={(connectionIds) => set({ connectionIds })}
        error={errorOf('connectionIds')}
        disabled={disabled}
      />
      <TextInput
        label={texts.template}
        description={texts.templateHelp}
        {...textField(draft, 'template')}
        maxLength={512}
      />
      {value.template.trim() !== '' && (
        <TextInput
          label={texts.language}
          w={220}
          placeholder="en_US"
          {...textField(draft, 'language')}
          maxLength={20}
        />
      )}
    </>
  )
}
