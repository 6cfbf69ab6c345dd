import { Button, Checkbox, MultiSelect, NumberInput, Radio, SimpleGrid, Stack } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type ApiKey, changeKey, useInvalidateKeys } from '../data/keys.ts'
import { useLabels } from '../data/labels.ts'
import { useAgentTools } from '../data/team/instructions.ts'
import { t } from '../text/index.ts'
import { showError, showToast } from '../ui/overlay/toasts.tsx'
import { type Draft, useDraft } from '../ui/use-draft.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { LimitFields, type LimitsDraft, limitsIn } from './KeyFields.tsx'

interface KeyPartProps {
  apiKey: ApiKey
  mayChange: boolean
}

interface KeyPart<T> {
  draft: Draft<T>
  isSaving: boolean
  save(): void
}

/** Returns some settings of a key, which are saved together. */
function useKeyPart<T extends object>(
  apiKey: ApiKey,
  partOf: (key: ApiKey) => T,
  changesOf: (part: T) => Parameters<typeof changeKey>[2],
  saved: string,
): KeyPart<T> {
  const workspaceId = useWorkspaceId()
  const changed = useInvalidateKeys(workspaceId)
  const draft = useDraft(partOf(apiKey))
  const change = useMutation({
    mutationFn: () => changeKey(workspaceId, apiKey.id, changesOf(draft.value)),
    onSuccess: async ({ key }) => {
      draft.reset(partOf(key))
      showToast(saved)
      await changed()
    },
    onError: (error) => draft.applyError(error) || showError(error),
  })
  return { draft, isSaving: change.isPending, save: () => change.mutate() }
}

const SaveButton = ({ draft, isSaving, save }: Omit<KeyPart<object>, 'draft'> & { draft: { isChanged: boolean } }) => (
  <Button variant="default" w="fit-content" disabled={!draft.isChanged} loading={isSaving} onClick={save}>
    {t.common.save}
  </Button>
)

/** Limits and agent settings of the key; an empty field means the default. */
export function KeyLimits({ apiKey, mayChange }: KeyPartProps) {
  const part = useKeyPart(apiKey, limitsOf, limitsIn, t.keys.limitsSaved)
  const { draft, save } = part
  return (
    <Stack gap="sm" role="group" aria-label={t.keys.limits}>
      <LimitFields
        draft={draft}
        disabled={!mayChange}
        onKeyDown={({ key }) => key === 'Enter' && draft.isChanged && save()}
      />
      {mayChange && <SaveButton {...part} />}
    </Stack>
  )
}

const limitsOf = ({ unansweredSends, dailySends, quietSeconds, maxParts, showTyping }: ApiKey): LimitsDraft => ({
  unansweredSends: unansweredSends ?? '',
  dailySends: dailySends ?? '',
  quietSeconds: quietSeconds ?? '',
  maxParts: maxParts ?? '',
  showTyping,
})

type Extent = 'none' | 'some' | 'always'

interface ApprovalDraft {
  extent: Extent
  outsideHours: boolean
  firstAnswers: boolean
  labelIds: string[]
  amountFrom: number | string
}

/** Which answers of the key people must approve. */
export function KeyApproval({ apiKey, mayChange }: KeyPartProps) {
  const part = useKeyPart<ApprovalDraft>(
    apiKey,
    approvalOf,
    (draft) => ({ approval: rulesIn(draft) }),
    t.keys.approvalSaved,
  )
  const { value, set } = part.draft
  const extents = { none: t.keys.approvalNone, some: t.keys.approvalSome, always: t.keys.approvalAlways }
  return (
    <Stack gap="sm" align="flex-start">
      <Radio.Group
        label={t.keys.approval}
        description={t.keys.approvalHelp}
        value={value.extent}
        onChange={(extent) => set({ extent: extent as Extent })}
      >
        <Stack gap={6} mt={6}>
          {(Object.keys(extents) as Extent[]).map((extent) => (
            <Radio key={extent} value={extent} label={extents[extent]} disabled={!mayChange} />
          ))}
        </Stack>
      </Radio.Group>
      {value.extent === 'some' && <SomeFields draft={part.draft} disabled={!mayChange} />}
      {mayChange && <SaveButton {...part} />}
    </Stack>
  )
}

function SomeFields({ draft: { value, set, errorOf }, disabled }: { draft: Draft<ApprovalDraft>; disabled: boolean }) {
  const { data: labels = [] } = useLabels(useWorkspaceId())
  return (
    <Stack gap="sm" pl="lg" w="100%">
      <Checkbox
        label={t.keys.approvalOutsideHours}
        checked={value.outsideHours}
        onChange={(event) => set({ outsideHours: event.currentTarget.checked })}
        disabled={disabled}
      />
      <Checkbox
        label={t.keys.approvalFirst}
        checked={value.firstAnswers}
        onChange={(event) => set({ firstAnswers: event.currentTarget.checked })}
        disabled={disabled}
      />
      <MultiSelect
        label={t.keys.approvalLabels}
        data={labels.map(({ id, name }) => ({ value: id, label: name }))}
        value={value.labelIds}
        onChange={(labelIds) => set({ labelIds })}
        maxValues={20}
        searchable
        disabled={disabled}
        error={errorOf('approval.labelIds')}
      />
      <NumberInput
        label={t.keys.approvalAmount}
        value={value.amountFrom}
        onChange={(amountFrom) => set({ amountFrom })}
        min={0}
        disabled={disabled}
        error={errorOf('approval.amountFrom')}
      />
    </Stack>
  )
}

const nothing = { outsideHours: false, firstAnswers: false, labelIds: [] }

function approvalOf({ approval: rules }: ApiKey): ApprovalDraft {
  if (rules === null) return { extent: 'none', ...nothing, amountFrom: '' }
  const { always, amountFrom, ...some } = rules
  return { extent: always ? 'always' : 'some', ...some, amountFrom: amountFrom ?? '' }
}

function rulesIn({ extent, amountFrom, ...some }: ApprovalDraft): ApiKey['approval'] {
  if (extent === 'none') return null
  if (extent === 'always') return { always: true, ...nothing, amountFrom: null }
  return { always: false, ...some, amountFrom: amountFrom === '' ? null : Number(amountFrom) }
}

/** Tools that the permissions of the key allow: each can be switched off. */
export function KeyTools({ apiKey, mayChange }: KeyPartProps) {
  const { data: tools = [] } = useAgentTools(useWorkspaceId())
  const part = useKeyPart(
    apiKey,
    ({ toolsOff }) => ({ toolsOff }),
    (draft) => draft,
    t.keys.toolsSaved,
  )
  const { toolsOff } = part.draft.value
  const allowed = tools.filter(({ canBeOff, scopes }) => canBeOff && scopes.some((one) => apiKey.scopes.includes(one)))
  const names = allowed.map(({ name }) => name)
  // Tools that other permissions would allow stay as they are.
  const setOn = (on: readonly string[]) =>
    part.draft.set({
      toolsOff: [...toolsOff.filter((name) => !names.includes(name)), ...names.filter((name) => !on.includes(name))],
    })
  if (allowed.length === 0) return null
  return (
    <Stack gap="sm" align="flex-start" role="group" aria-label={t.keys.tools}>
      <Checkbox.Group
        label={t.keys.tools}
        description={t.keys.toolsHelp}
        value={names.filter((name) => !toolsOff.includes(name))}
        onChange={setOn}
        w="100%"
      >
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" verticalSpacing={6} mt={6}>
          {names.map((name) => (
            <Checkbox key={name} value={name} label={<code>{name}</code>} disabled={!mayChange} />
          ))}
        </SimpleGrid>
      </Checkbox.Group>
      {mayChange && <SaveButton {...part} />}
    </Stack>
  )
}
