import { Button, Checkbox, MultiSelect, NumberInput, Radio, Stack } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type ApiKey, changeKey, useInvalidateKeys } from '../data/keys.ts'
import { useLabels } from '../data/labels.ts'
import { t } from '../text/index.ts'
import { showError, showToast } from '../ui/overlay/toasts.tsx'
import { type Draft, useDraft } from '../ui/use-draft.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'

interface KeyApprovalProps {
  apiKey: ApiKey
  mayChange: boolean
}

type Extent = 'none' | 'some' | 'always'

interface ApprovalDraft {
  extent: Extent
  outsideHours: boolean
  firstAnswers: boolean
  labelIds: string[]
  amountFrom: number | string
}

/** Which answers of the key people must approve. */
export function KeyApproval({ apiKey, mayChange }: KeyApprovalProps) {
  const workspaceId = useWorkspaceId()
  const changed = useInvalidateKeys(workspaceId)
  const draft = useDraft(draftOf(apiKey.approval))
  const { value, set } = draft
  const change = useMutation({
    mutationFn: () => changeKey(workspaceId, apiKey.id, { approval: rulesIn(value) }),
    onSuccess: async ({ key }) => {
      draft.reset(draftOf(key.approval))
      showToast(t.keys.approvalSaved)
      await changed()
    },
    onError: (error) => draft.applyError(error) || showError(error),
  })
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
      {value.extent === 'some' && <SomeFields draft={draft} disabled={!mayChange} />}
      {mayChange && (
        <Button
          variant="default"
          disabled={!draft.isChanged}
          loading={change.isPending}
          onClick={() => change.mutate()}
        >
          {t.common.save}
        </Button>
      )}
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

function draftOf(rules: ApiKey['approval']): ApprovalDraft {
  if (rules === null) return { extent: 'none', ...nothing, amountFrom: '' }
  const { always, amountFrom, ...some } = rules
  return { extent: always ? 'always' : 'some', ...some, amountFrom: amountFrom ?? '' }
}

function rulesIn({ extent, amountFrom, ...some }: ApprovalDraft): ApiKey['approval'] {
  if (extent === 'none') return null
  if (extent === 'always') return { always: true, ...nothing, amountFrom: null }
  return { always: false, ...some, amountFrom: amountFrom === '' ? null : Number(amountFrom) }
}
