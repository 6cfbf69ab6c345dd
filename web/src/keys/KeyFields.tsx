import { Checkbox, MultiSelect, Stack, Textarea } from '@mantine/core'
import { useConnections } from '../data/connections.ts'
import type { Scope } from '../data/keys.ts'
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
