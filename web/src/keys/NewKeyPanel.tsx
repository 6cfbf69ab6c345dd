import { Radio, Stack, Switch, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type ApiKey, createKey } from '../data/keys.ts'
import { t } from '../text/index.ts'
import { showError } from '../ui/overlay/toasts.tsx'
import { PanelButtons } from '../ui/page/PanelButtons.tsx'
import { SidePanel } from '../ui/page/SidePanel.tsx'
import { type Draft, useDraft } from '../ui/use-draft.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import {
  AllowlistField,
  addressesIn,
  blankLimits,
  ConnectionField,
  type KeyScopeDraft,
  LimitFields,
  type LimitsDraft,
  limitNames,
  limitsIn,
  ScopeBoxes,
} from './KeyFields.tsx'
import styles from './NewKeyPanel.module.css'
import { mayAnswer, type PresetName, presets } from './presets.ts'

interface NewKeyPanelProps {
  close(): void
  onCreated(response: { key: ApiKey; value: string }): void
}

interface KeyDraft extends KeyScopeDraft, LimitsDraft {
  name: string
  answersNewConversations: boolean
  phoneVisibility: 'full' | 'masked'
  expiresAt: string
}

// No permission is preselected.
const blank: KeyDraft = {
  name: '',
  scopes: [],
  connectionIds: [],
  answersNewConversations: false,
  ...blankLimits,
  phoneVisibility: 'full',
  allowlist: '',
  expiresAt: '',
}

export function NewKeyPanel({ close, onCreated }: NewKeyPanelProps) {
  const workspaceId = useWorkspaceId()
  const draft = useDraft(blank)
  const { value, set, errorOf } = draft
  const create = useMutation({
    mutationFn: () => createKey(workspaceId, bodyOf(value)),
    onSuccess: onCreated,
    onError: (error) => draft.applyError(error) || showError(error),
  })
  return (
    <SidePanel
      title={t.keys.create}
      close={close}
      submit={() => create.mutate()}
      footer={<PanelButtons close={close} action={t.common.create} isBusy={create.isPending} />}
    >
      <TextInput
        label={t.keys.name}
        description={t.keys.nameHelp}
        value={value.name}
        onChange={(event) => set({ name: event.currentTarget.value })}
        error={errorOf('name')}
        data-autofocus
      />
      <ScopeFields draft={draft} />
      <ConnectionField draft={draft} />
      {mayAnswer(value.scopes) && (
        <Switch
          label={t.keys.answersNew}
          description={t.keys.answersNewHelp}
          checked={value.answersNewConversations}
          onChange={(event) => set({ answersNewConversations: event.currentTarget.checked })}
          error={errorOf('answersNewConversations')}
        />
      )}
      {mayAnswer(value.scopes) && <Limits draft={draft} />}
      <Radio.Group
        label={t.keys.phones}
        value={value.phoneVisibility}
        onChange={(chosen) => set({ phoneVisibility: chosen as KeyDraft['phoneVisibility'] })}
      >
        <Stack gap={6} mt={4}>
          <Radio value="full" label={t.keys.phonesFull} />
          <Radio value="masked" label={t.keys.phonesMasked} />
        </Stack>
      </Radio.Group>
      <AllowlistField draft={draft} />
      <TextInput
        type="datetime-local"
        label={t.keys.expires}
        description={t.keys.expiresHelp}
        value={value.expiresAt}
        onChange={(event) => set({ expiresAt: event.currentTarget.value })}
        error={errorOf('expiresAt')}
      />
    </SidePanel>
  )
}

/** Collapsed, since the defaults fit most keys; opens on errors. */
function Limits({ draft }: { draft: Draft<KeyDraft> }) {
  const { errorOf } = draft
  const isRefused = limitNames.some((name) => errorOf(name) !== undefined)
  return (
    <details className={styles.limits} {...(isRefused && { open: true })}>
      <summary>{t.keys.limitsShort}</summary>
      <Stack gap="sm" mt="sm" role="group" aria-label={t.keys.limits}>
        <LimitFields draft={draft} />
      </Stack>
    </details>
  )
}

function ScopeFields({ draft }: { draft: Draft<KeyDraft> }) {
  const { value, set } = draft
  const chosen = (Object.keys(presets) as PresetName[]).find((name) => isSame(presets[name].scopes, value.scopes))
  return (
    <div>
      <Radio.Group
        label={t.keys.preset}
        value={chosen ?? (value.scopes.length === 0 ? '' : 'own')}
        onChange={(name) => {
          const { scopes, ...rest } = presets[name as PresetName]
          set({ scopes: [...scopes], ...rest })
        }}
      >
        <Stack gap={6} mt={4}>
          {(Object.keys(presets) as PresetName[]).map((name) => (
            <Radio key={name} value={name} label={t.keys.presets[name]} description={t.keys.presetHelp[name]} />
          ))}
          {chosen === undefined && value.scopes.length > 0 && <Radio value="own" label={t.keys.presets.own} readOnly />}
        </Stack>
      </Radio.Group>
      <ScopeBoxes draft={draft} />
    </div>
  )
}

function bodyOf(draft: KeyDraft) {
  const { allowlist, expiresAt, unansweredSends, dailySends, quietSeconds, maxParts, showTyping, ...rest } = draft
  const limits = { unansweredSends, dailySends, quietSeconds, maxParts, showTyping }
  return {
    ...rest,
    ...(mayAnswer(rest.scopes) && limitsIn(limits)),
    answersNewConversations: rest.answersNewConversations && mayAnswer(rest.scopes),
    name: rest.name.trim(),
    allowlist: addressesIn(allowlist),
    expiresAt: expiresAt === '' ? null : new Date(expiresAt).toISOString(),
  }
}

const isSame = (a: readonly string[], b: readonly string[]) =>
  a.length === b.length && a.every((one) => b.includes(one))
