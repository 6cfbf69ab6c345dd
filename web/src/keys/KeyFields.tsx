import { Checkbox, MultiSelect, NumberInput, Stack, Switch, Textarea } from '@mantine/core'
import type { KeyboardEvent } from 'react'
import { useConnections } from '../data/connections.ts'
import type { Scope } from '../data/keys.ts'
import { useWorkspace } from '../data/workspace.ts'
import { t } from '../text/index.ts'
import type { Draft } from '../ui/use-draft.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { allScopes } from './presets.ts'

/** Permissions, visibility and allowlist of a key, as entered. */
export interface KeyScopeDraft {
  scopes: Scope[]
  connectionIds: string[]
  /** One address or range per line. */
  allowlist: string
}

interface FieldProps {
  draft: Pick<Draft<KeyScopeDraft>, 'value' | 'set' | 'errorOf'>
}

export function ScopeBoxes({ draft: { value, set, errorOf } }: FieldProps) {
  return (
    <Checkbox.Group
      mt="md"
      label={t.keys.permissions}
      value={value.scopes}
      onChange={(scopes) => set({ scopes: scopes as Scope[] })}
      error={errorOf('scopes')}
    >
      <Stack gap={6} mt={4}>
        {allScopes.map((scope) => (
          <Checkbox key={scope} value={scope} label={t.keys.scopes[scope]} description={scope} />
        ))}
      </Stack>
    </Checkbox.Group>
  )
}

export function ConnectionField({ draft: { value, set, errorOf } }: FieldProps) {
  const { data: connections = [] } = useConnections(useWorkspaceId())
  if (connections.length === 0 || !value.scopes.some((scope) => scope.startsWith('inbox.'))) return null
  return (
    <MultiSelect
      label={t.keys.connections}
      description={t.keys.connectionsHelp}
      placeholder={value.connectionIds.length === 0 ? t.common.all : ''}
      data={connections.map(({ id, name }) => ({ value: id, label: name }))}
      value={value.connectionIds}
      onChange={(connectionIds) => set({ connectionIds })}
      error={errorOf('connectionIds')}
      clearable
    />
  )
}

export function AllowlistField({ draft: { value, set, errorOf } }: FieldProps) {
  return (
    <Textarea
      label={t.keys.allowlist}
      description={t.keys.allowlistHelp}
      placeholder={'203.0.113.7\n2001:db8::/32'}
      autosize
      minRows={2}
      value={value.allowlist}
      onChange={(event) => set({ allowlist: event.currentTarget.value })}
      error={errorOf('allowlist')}
    />
  )
}

export const addressesIn = (text: string): string[] => text.split(/[\s,]+/).filter((line) => line !== '')

/** Limits and agent settings of a key, as entered; an empty field means the default. */
export interface LimitsDraft {
  unansweredSends: number | string
  dailySends: number | string
  quietSeconds: number | string
  maxParts: number | string
  showTyping: boolean
}

export const limitNames = ['unansweredSends', 'dailySends', 'quietSeconds', 'maxParts'] as const
type LimitName = (typeof limitNames)[number]

export const blankLimits: LimitsDraft = {
  unansweredSends: '',
  dailySends: '',
  quietSeconds: '',
  maxParts: '',
  showTyping: false,
}

interface LimitFieldsProps {
  draft: Pick<Draft<LimitsDraft>, 'value' | 'set' | 'errorOf'>
  disabled?: boolean
  onKeyDown?(event: KeyboardEvent): void
}

export function LimitFields({ draft: { value, set, errorOf }, ...more }: LimitFieldsProps) {
  const { data: workspace } = useWorkspace(useWorkspaceId())
  const maxParts = workspace?.agentMaxParts ?? 1
  const fieldOf = (name: LimitName, min: number, max: number, fallback: number) => ({
    ...{ min, max, placeholder: String(fallback), allowDecimal: false, value: value[name], error: errorOf(name) },
    onChange: (typed: number | string) => set({ [name]: typed }),
    ...more,
  })
  return (
    <>
      <NumberInput
        label={t.keys.unanswered}
        description={t.keys.unansweredHelp}
        {...fieldOf('unansweredSends', 1, 50, 3)}
      />
      <NumberInput label={t.keys.daily} description={t.keys.dailyHelp} {...fieldOf('dailySends', 1, 100_000, 1000)} />
      <NumberInput label={t.keys.quiet} description={t.keys.quietHelp} {...fieldOf('quietSeconds', 0, 30, 4)} />
      <NumberInput
        label={t.keys.maxParts}
        description={t.keys.maxPartsHelp}
        {...fieldOf('maxParts', 1, 10, maxParts)}
      />
      <Switch
        label={t.keys.showTyping}
        description={t.keys.showTypingHelp}
        checked={value.showTyping}
        onChange={(event) => set({ showTyping: event.currentTarget.checked })}
        disabled={more.disabled ?? false}
      />
    </>
  )
}

export const limitsIn = (draft: LimitsDraft) => ({
  unansweredSends: numberOf(draft.unansweredSends),
  dailySends: numberOf(draft.dailySends),
  quietSeconds: numberOf(draft.quietSeconds),
  maxParts: numberOf(draft.maxParts),
  showTyping: draft.showTyping,
})

const numberOf = (typed: number | string): number | null => (typed === '' ? null : Number(typed))
