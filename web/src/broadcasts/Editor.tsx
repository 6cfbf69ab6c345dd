import { Button, Checkbox, Group, NumberInput, Select, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useDeferredValue, useState } from 'react'
import { useConnections } from '../data/connections.ts'
import {
  type Broadcast,
  type BroadcastDraft,
  useBroadcastActions,
  useBroadcastPreview,
} from '../data/outreach/broadcasts.ts'
import { useSavedFiltersOf } from '../data/saved-filters.ts'
import { t } from '../text/index.ts'
import { formatCost } from '../ui/format/cost.ts'
import { errorSentence } from '../ui/format/error-texts.ts'
import { formatNumber } from '../ui/format/time.ts'
import { showError } from '../ui/overlay/toasts.tsx'
import { Facts } from '../ui/page/Facts.tsx'
import { Section, SectionTitle } from '../ui/page/Section.tsx'
import { type Draft, useDraft } from '../ui/use-draft.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './Broadcasts.module.css'
import { audienceOf, completeDraft, type DraftValue, newDraft } from './draft.ts'
import { reasonName } from './parts.tsx'
import { StartSection } from './StartSection.tsx'
import { Variants } from './Variants.tsx'

/** Steps of a broadcast: who, what, how it looks, who is left out, and when. */
export function Editor({ broadcast }: { broadcast: Broadcast | null }) {
  const workspaceId = useWorkspaceId()
  const navigate = useNavigate()
  const actions = useBroadcastActions(workspaceId)
  const connections = useOfficialConnections(workspaceId)
  const draft = useDraft<DraftValue>(
    broadcast === null ? newDraft(connections[0]?.id ?? null) : { ...broadcast, connectionId: broadcast.connection.id },
  )
  const [isTried, setTried] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const texts = t.broadcasts
  const complete = completeDraft(draft.value)
  const isSaved = broadcast !== null && !draft.isChanged
  const save = async (counts: boolean) => {
    setTried(true)
    if (complete === null) return
    setBusy(true)
    try {
      const { name, connectionId, audience, variants, options } = complete
      const body = { name, connectionId, audience, variants, options }
      const saved = isSaved ? broadcast : await actions.save(broadcast?.id ?? null, body)
      draft.reset({ ...body })
      if (counts) await actions.control(saved.id, 'count')
      if (broadcast === null) {
        await navigate({ to: `/w/${workspaceId}/broadcasts/${saved.id}` as '/', replace: true })
      }
    } catch (error) {
      if (!draft.applyError(error)) showError(error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <SectionTitle value="h2">
      <AudienceFields draft={draft} isTried={isTried} />
      <Section title={texts.steps.message} help={texts.steps.messageHelp}>
        <Select
          label={texts.connection}
          data={connections.map(({ id, name }) => ({ value: id, label: name }))}
          value={draft.value.connectionId}
          allowDeselect={false}
          error={draft.errorOf('connectionId') ?? (connections.length === 0 ? texts.noConnection : undefined)}
          onChange={(connectionId) => draft.set({ connectionId })}
        />
        {draft.value.connectionId !== null && (
          <Variants
            connectionId={draft.value.connectionId}
            variants={draft.value.variants}
            set={(variants) => draft.set({ variants })}
            isTried={isTried}
          />
        )}
      </Section>
      <Samples draft={complete} />
      <Section
        title={texts.steps.count}
        help={texts.steps.countHelp}
        footer={
          <Group gap="xs">
            <Button variant="default" loading={isBusy} disabled={isSaved} onClick={() => void save(false)}>
              {t.common.save}
            </Button>
            <Button loading={isBusy || broadcast?.state === 'collecting'} onClick={() => void save(true)}>
              {texts.count}
            </Button>
          </Group>
        }
      >
        {isTried && complete === null && <p role="alert">{texts.incomplete}</p>}
        {draft.isChanged && broadcast?.counts != null && <p className={styles.notice}>{texts.outdated}</p>}
        {broadcast !== null && <Audience broadcast={broadcast} />}
      </Section>
      {isSaved && <StartSection broadcast={broadcast} />}
    </SectionTitle>
  )
}

function useOfficialConnections(workspaceId: string) {
  const { data = [] } = useConnections(workspaceId)
  return data.filter(({ channel }) => channel === 'waba' || channel === 'partner')
}

/** Name, view of leads, and who of them is left out. */
function AudienceFields({ draft, isTried }: { draft: Draft<DraftValue>; isTried: boolean }) {
  const texts = t.broadcasts
  const views = useSavedFiltersOf('leads', useWorkspaceId())
  const { name, audience, options } = draft.value
  const chosen = views.find((view) => view.name === audience.viewName)
  // A filter of a program, or of a view that was renamed, stays as it is.
  const isOther = chosen === undefined && (audience.viewName !== null || Object.keys(audience.filter).length > 0)
  const setOptions = (changes: Partial<DraftValue['options']>) => draft.set({ options: { ...options, ...changes } })
  return (
    <Section title={texts.steps.audience} help={texts.steps.audienceHelp}>
      <TextInput
        label={texts.name}
        value={name}
        maxLength={100}
        error={draft.errorOf('name') ?? (isTried && name.trim() === '' ? texts.nameMissing : undefined)}
        onChange={(event) => draft.set({ name: event.currentTarget.value })}
      />
      <Select
        label={texts.view}
        data={[
          { value: '', label: texts.allLeads },
          ...(isOther ? [{ value: 'other', label: audience.viewName ?? texts.otherFilter }] : []),
          ...views.map((view) => ({ value: view.id, label: view.name })),
        ]}
        value={isOther ? 'other' : (chosen?.id ?? '')}
        allowDeselect={false}
        searchable
        onChange={(id) => id !== 'other' && draft.set({ audience: audienceOf(views.find((view) => view.id === id)) })}
      />
      <NumberInput
        label={texts.quietDays}
        description={texts.quietDaysHelp}
        min={0}
        max={30}
        clampBehavior="strict"
        allowDecimal={false}
        value={options.quietDays}
        onChange={(days) => setOptions({ quietDays: Number(days) || 0 })}
      />
      <Checkbox
        label={texts.optInOnly}
        checked={options.optInOnly}
        onChange={(event) => setOptions({ optInOnly: event.currentTarget.checked })}
      />
      <NumberInput
        label={texts.perMinute}
        description={texts.perMinuteHelp}
        min={1}
        max={2400}
        clampBehavior="strict"
        allowDecimal={false}
        value={options.perMinute ?? ''}
        onChange={(n) => setOptions({ perMinute: n === '' ? null : Number(n) || null })}
      />
    </Section>
  )
}

/** Who gets a broadcast, who is left out and why, and what it may cost. */
function Audience({ broadcast: { state, reason, counts, cost } }: { broadcast: Broadcast }) {
  const texts = t.broadcasts
  if (state === 'draft') {
    const why: Record<string, string> = texts.countProblems
    return reason === null ? null : <p role="alert">{why[reason] ?? texts.otherReason({ code: reason })}</p>
  }
  if (counts === null) return <p role="status">{texts.counting}</p>
  const excluded = Object.entries(counts.excluded).toSorted(([, a], [, b]) => b - a)
  return (
    <div className={styles.stack} role="status">
      {state === 'collecting' && <p className={styles.muted}>{texts.counting}</p>}
      <Facts
        facts={[
          [texts.leads, formatNumber(counts.leads)],
          [texts.included, <strong key="included">{formatNumber(counts.included)}</strong>],
          ...excluded.map(([why, count]) => [reasonName(why), formatNumber(count)] as const),
          ...(cost === null
            ? []
            : [
                [texts.estimate, formatCost(cost.amount, cost.currency)] as const,
                ...(cost.unpriced > 0 ? [[texts.unpriced, formatNumber(cost.unpriced)] as const] : []),
              ]),
        ]}
      />
    </div>
  )
}

/** The messages as some leads of the audience would get them. */
function Samples({ draft }: { draft: BroadcastDraft | null }) {
  const request = useDeferredValue(
    draft && { connectionId: draft.connectionId, audience: draft.audience, variants: draft.variants },
  )
  const { data, error } = useBroadcastPreview(useWorkspaceId(), request)
  const texts = t.broadcasts
  return (
    <Section title={texts.steps.preview} help={texts.steps.previewHelp}>
      {error !== null && <p role="alert">{errorSentence(error)}</p>}
      {draft === null && <p className={styles.muted}>{texts.incomplete}</p>}
      {data != null && (
        <>
          <p className={styles.muted}>{texts.matching({ n: data.total, shown: formatNumber(data.total) })}</p>
          <ul className={styles.samples} aria-label={texts.steps.preview}>
            {data.rows.flatMap(({ leadId, name, texts: filled }) =>
              filled.map((text, n) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: variants have no ids
                <li key={`${leadId} ${n}`} dir="auto">
                  <span className={styles.muted}>{name}</span>
                  <br />
                  {text ?? texts.reasons.missing_value}
                </li>
              )),
            )}
          </ul>
        </>
      )}
    </Section>
  )
}
