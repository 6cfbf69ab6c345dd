import { MultiSelect, NumberInput, Select, Switch, TagsInput, TextInput } from '@mantine/core'
import { useState } from 'react'
import { optInEventNameValues } from '../api/schema.ts'
import type { Workspace } from '../data/workspace.ts'
import { currentUser, hasRole } from '../session/session.ts'
import { t } from '../text/index.ts'
import { checkField, textField } from '../ui/draft-fields.ts'
import { currencies } from '../ui/format/currencies.ts'
import { formatNumber } from '../ui/format/time.ts'
import { DraftSection, type SectionDraft, useWorkspaceDraft } from './draft/DraftSection.tsx'
import { CountrySelect } from './parts/CountrySelect.tsx'
import { WorkspaceBoundary } from './parts/WorkspaceBoundary.tsx'
import { StatusesField } from './StatusesField.tsx'

export const WorkspaceSection = () => (
  <WorkspaceBoundary>{(workspace) => <WorkspaceForm workspace={workspace} />}</WorkspaceBoundary>
)

const maxQuota = 2_000_000_000

const draftOf = (workspace: Workspace) => ({
  name: workspace.name,
  defaultCountry: workspace.defaultCountry,
  currency: workspace.currency,
  dailyLeadQuota: workspace.dailyLeadQuota as number | string,
  dailyLeadQuotaCeiling: workspace.dailyLeadQuotaCeiling as number | string,
  leadsFromChat: workspace.leadsFromChat,
  keepFormerTexts: workspace.keepFormerTexts,
  inboxAvailable: workspace.inboxAvailable,
  leadStatuses: workspace.leadStatuses,
  optOutKeywords: workspace.optOutKeywords,
  optInKeywords: workspace.optInKeywords,
  feedEvents: workspace.feedEvents,
})

function WorkspaceForm({ workspace }: { workspace: Workspace }) {
  const texts = t.settings.workspace
  const isOwner = hasRole(workspace.id, 'owner')
  const draft = useWorkspaceDraft(workspace, draftOf, (value) => {
    const { inboxAvailable, dailyLeadQuota, dailyLeadQuotaCeiling, ...rest } = value
    return {
      ...rest,
      name: rest.name.trim(),
      dailyLeadQuota: Number(dailyLeadQuota),
      ...(isOwner && { inboxAvailable }),
      ...(currentUser().isOperator && { dailyLeadQuotaCeiling: Number(dailyLeadQuotaCeiling) }),
    }
  })
  return (
    <DraftSection title={texts.general} help={draft.mayChange ? undefined : t.settings.adminsOnly} draft={draft}>
      <Fields draft={draft} isOwner={isOwner} />
      <FeedEventsField draft={draft} />
    </DraftSection>
  )
}

interface FieldsProps {
  draft: SectionDraft<ReturnType<typeof draftOf>>
  isOwner: boolean
}

function Fields({ draft, isOwner }: FieldsProps) {
  const texts = t.settings.workspace
  const { value, set, errorOf, mayChange } = draft
  const ceiling = Number(value.dailyLeadQuotaCeiling)
  const [currencyChoices] = useState(() => [{ value: '', label: texts.noCurrency }, ...currencies()])
  return (
    <>
      <TextInput label={texts.name} {...textField(draft, 'name')} />
      <CountrySelect
        label={texts.country}
        value={value.defaultCountry}
        change={(defaultCountry) => set({ defaultCountry })}
        error={errorOf('defaultCountry')}
        disabled={!mayChange}
      />
      <Select
        label={texts.currency}
        description={texts.currencyHelp}
        data={currencyChoices}
        searchable
        allowDeselect={false}
        value={value.currency ?? ''}
        onChange={(chosen) => set({ currency: chosen || null })}
        error={errorOf('currency')}
        disabled={!mayChange}
      />
      <NumberInput
        label={texts.quota}
        description={ceiling === 0 ? texts.quotaHelp : texts.quotaUpTo({ ceiling: formatNumber(ceiling) })}
        min={ceiling === 0 ? 0 : 1}
        max={ceiling === 0 ? maxQuota : ceiling}
        allowDecimal={false}
        value={value.dailyLeadQuota}
        onChange={(dailyLeadQuota) => set({ dailyLeadQuota })}
        error={errorOf('dailyLeadQuota')}
        disabled={!mayChange}
      />
      {currentUser().isOperator && (
        <NumberInput
          label={texts.ceiling}
          description={texts.ceilingHelp}
          min={0}
          max={maxQuota}
          allowDecimal={false}
          value={value.dailyLeadQuotaCeiling}
          onChange={(dailyLeadQuotaCeiling) => set({ dailyLeadQuotaCeiling })}
          error={errorOf('dailyLeadQuotaCeiling')}
        />
      )}
      <InboxSwitches draft={draft} isOwner={isOwner} />
      <KeywordsFields draft={draft} />
      <StatusesField
        value={value.leadStatuses}
        change={(leadStatuses) => set({ leadStatuses })}
        error={errorOf('leadStatuses')}
        disabled={!mayChange}
      />
    </>
  )
}

/** Events that are recorded for readers of the event feed, beside those that always are. */
function FeedEventsField({ draft: { value, set, errorOf, mayChange } }: Omit<FieldsProps, 'isOwner'>) {
  const texts = t.settings.workspace
  return (
    <MultiSelect
      label={texts.feedEvents}
      description={texts.feedEventsHelp}
      data={optInEventNameValues.map((name) => ({ value: name, label: t.webhooks.eventNames[name] }))}
      value={value.feedEvents}
      onChange={(names) => set({ feedEvents: optInEventNameValues.filter((name) => names.includes(name)) })}
      clearable
      error={errorOf('feedEvents')}
      disabled={!mayChange}
    />
  )
}

// As the server allows.
const [maxKeywords, maxKeywordLength] = [50, 30]

/** Keywords by which customers opt out of marketing, and in again. */
function KeywordsFields({ draft: { value, set, errorOf, mayChange } }: Omit<FieldsProps, 'isOwner'>) {
  const texts = t.settings.workspace
  return (['optOutKeywords', 'optInKeywords'] as const).map((name) => (
    <TagsInput
      key={name}
      label={texts[name]}
      description={texts[`${name}Help`]}
      value={value[name]}
      onChange={(keywords) => set({ [name]: keywords.map((word) => word.trim()).filter((word) => word !== '') })}
      maxTags={maxKeywords}
      maxLength={maxKeywordLength}
      acceptValueOnBlur
      error={errorOf(name)}
      disabled={!mayChange}
    />
  ))
}

function InboxSwitches({ draft, isOwner }: FieldsProps) {
  const texts = t.settings.workspace
  return (
    <>
      <Switch label={texts.fromChat} description={texts.fromChatHelp} {...checkField(draft, 'leadsFromChat')} />
      <Switch label={texts.formerTexts} description={texts.formerTextsHelp} {...checkField(draft, 'keepFormerTexts')} />
      <Switch
        label={texts.inboxOpen}
        description={texts.inboxOpenHelp}
        {...checkField(draft, 'inboxAvailable')}
        disabled={!isOwner}
      />
    </>
  )
}
