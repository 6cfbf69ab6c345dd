import { Button, Checkbox, NumberInput, Select, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useApiKeys } from '../data/keys.ts'
import { changeReviewSettings, type ReviewRules, type ReviewSettings } from '../data/team/reviews.ts'
import { t } from '../text/index.ts'
import { showError, showToast } from '../ui/overlay/toasts.tsx'
import { Section } from '../ui/page/Section.tsx'
import { type Draft, useDraft } from '../ui/use-draft.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'

/** Rules while they are edited; an empty field turns a rule off. */
interface RulesDraft {
  randomPercent: number | string
  takeoverMinutes: number | string
  longMessages: number | string
  reopened: boolean
  lowScore: boolean
  dailyLimit: number | string
}

const noRules: Omit<ReviewRules, 'keyId'> = {
  randomPerMille: 0,
  takeoverMinutes: null,
  longMessages: null,
  reopened: false,
  lowScore: false,
}

/** Which conversations are selected: of all agents, or of one that has rules of its own. */
export function RulesSection({ settings }: { settings: ReviewSettings }) {
  const [keyId, setKeyId] = useState<string | null>(null)
  const { data: keys = [] } = useApiKeys(useWorkspaceId())
  const agents = keys.filter(({ scopes, status }) => scopes.includes('inbox.write') && status === 'active')
  const hasOwn = (id: string) => settings.rules.some((one) => one.keyId === id)
  return (
    <Section title={t.review.rules} help={t.review.rulesHelp}>
      <Stack gap="md">
        {agents.length > 0 && (
          <Select
            label={t.review.rulesFor}
            data={[
              { value: '', label: t.review.allAgents },
              ...agents.map(({ id, name }) => ({ value: id, label: hasOwn(id) ? t.review.ownRules({ name }) : name })),
            ]}
            value={keyId ?? ''}
            onChange={(value) => setKeyId(value === '' ? null : value)}
            allowDeselect={false}
          />
        )}
        <RulesForm key={keyId ?? ''} keyId={keyId} settings={settings} />
      </Stack>
    </Section>
  )
}

function RulesForm({ keyId, settings }: { keyId: string | null; settings: ReviewSettings }) {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  const own = settings.rules.find((one) => one.keyId === keyId)
  const shared = settings.rules.find((one) => one.keyId === null)
  const draft = useDraft(draftOf(own ?? shared ?? { keyId, ...noRules }, settings.dailyLimit))
  const others = settings.rules.filter((one) => one.keyId !== keyId)
  const save = useMutation({
    mutationFn: (rules: ReviewRules[]) =>
      changeReviewSettings(queries, workspaceId, {
        rules,
        ...(keyId === null && { dailyLimit: Number(draft.value.dailyLimit) }),
      }),
    onSuccess: (saved) => {
      const now = saved.rules.find((one) => one.keyId === keyId) ?? saved.rules.find((one) => one.keyId === null)
      draft.reset(draftOf(now ?? { keyId, ...noRules }, saved.dailyLimit))
      showToast(t.review.saved)
    },
    onError: (error) => draft.applyError(error) || showError(error),
  })
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        save.mutate([...others, rulesIn(draft.value, keyId)])
      }}
    >
      <Stack gap="sm" align="flex-start">
        {keyId !== null && own === undefined && <Text size="sm">{t.review.usesShared}</Text>}
        <RuleFields draft={draft} />
        {keyId === null && (
          <NumberInput
            label={t.review.dailyLimit}
            description={t.review.dailyLimitHelp}
            min={1}
            max={200}
            value={draft.value.dailyLimit}
            onChange={(dailyLimit) => draft.set({ dailyLimit })}
            error={draft.errorOf('dailyLimit')}
          />
        )}
        <Button type="submit" loading={save.isPending} disabled={!draft.isChanged}>
          {t.common.save}
        </Button>
        {keyId !== null && own !== undefined && (
          <Button variant="subtle" color="gray" onClick={() => save.mutate(others)}>
            {t.review.dropOwn}
          </Button>
        )}
      </Stack>
    </form>
  )
}

function RuleFields({ draft: { value, set } }: { draft: Draft<RulesDraft> }) {
  const texts = t.review
  return (
    <>
      <NumberInput
        label={texts.random}
        description={texts.randomHelp}
        min={0}
        max={100}
        decimalScale={1}
        suffix=" %"
        value={value.randomPercent}
        onChange={(randomPercent) => set({ randomPercent })}
      />
      <NumberInput
        label={texts.takeover}
        description={texts.emptyIsOff}
        min={1}
        max={1440}
        allowDecimal={false}
        value={value.takeoverMinutes}
        onChange={(takeoverMinutes) => set({ takeoverMinutes })}
      />
      <NumberInput
        label={texts.long}
        description={texts.emptyIsOff}
        min={2}
        max={1000}
        allowDecimal={false}
        value={value.longMessages}
        onChange={(longMessages) => set({ longMessages })}
      />
      <Checkbox
        label={texts.reopened}
        checked={value.reopened}
        onChange={(event) => set({ reopened: event.currentTarget.checked })}
      />
      <Checkbox
        label={texts.lowScore}
        checked={value.lowScore}
        onChange={(event) => set({ lowScore: event.currentTarget.checked })}
      />
    </>
  )
}

const draftOf = (rules: ReviewRules, dailyLimit: number): RulesDraft => ({
  randomPercent: rules.randomPerMille / 10,
  takeoverMinutes: rules.takeoverMinutes ?? '',
  longMessages: rules.longMessages ?? '',
  reopened: rules.reopened,
  lowScore: rules.lowScore,
  dailyLimit,
})

const numberIn = (value: number | string): number | null => (value === '' ? null : Number(value))

const rulesIn = (draft: RulesDraft, keyId: string | null): ReviewRules => ({
  keyId,
  randomPerMille: Math.round(Number(draft.randomPercent) * 10),
  takeoverMinutes: numberIn(draft.takeoverMinutes),
  longMessages: numberIn(draft.longMessages),
  reopened: draft.reopened,
  lowScore: draft.lowScore,
})
