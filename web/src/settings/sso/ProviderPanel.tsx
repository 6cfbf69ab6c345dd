import {
  ActionIcon,
  Button,
  Checkbox,
  Group,
  Input,
  PasswordInput,
  Select,
  Stack,
  Switch,
  TextInput,
} from '@mantine/core'
import { IconPlus, IconTrash } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { roleValues } from '../../api/schema.ts'
import {
  type AccessRule,
  type IdentityProvider,
  type ProviderInput,
  providersKey,
  saveProvider,
} from '../../data/team/sso.ts'
import { useAllWorkspaces } from '../../data/workspace.ts'
import { currentUser, type Role } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import { checkField, textField, useSave } from '../../ui/draft-fields.ts'
import { showToast } from '../../ui/overlay/toasts.tsx'
import { type Draft, useDraft } from '../../ui/use-draft.ts'
import { EditPanel } from '../draft/EditPanel.tsx'
import { Addresses } from './Addresses.tsx'

interface ProviderDraft extends Omit<ProviderInput, 'domains' | 'groupsClaim' | 'clientSecret' | 'access'> {
  /** As typed. */
  domains: string
  groupsClaim: string
  clientSecret: string
  access: RuleDraft[]
}

const blank: ProviderDraft = {
  ...{ name: '', issuer: '', clientId: '', clientSecret: '', domains: '', linksByEmail: false, createsPeople: true },
  ...{ groupsClaim: '', access: [], breakGlass: [], isEnabled: true },
}

function draftOf(provider: IdentityProvider | null): ProviderDraft {
  if (provider === null) return { ...blank, breakGlass: [currentUser().id] }
  const { name, issuer, clientId, linksByEmail, createsPeople, breakGlass, isEnabled } = provider
  return {
    ...{ name, issuer, clientId, linksByEmail, createsPeople, breakGlass, isEnabled },
    clientSecret: '',
    domains: provider.domains.join(', '),
    groupsClaim: provider.groupsClaim ?? '',
    access: provider.access.map((rule) => ({ ...rule, group: rule.group ?? '' })),
  }
}

const inputOf = ({ domains, groupsClaim, clientSecret, access, ...rest }: ProviderDraft): ProviderInput => ({
  ...rest,
  domains: domains.split(/[\s,;]+/).filter((domain) => domain !== ''),
  groupsClaim: groupsClaim.trim() || null,
  access: access.map((rule) => ({ ...rule, group: rule.group.trim() || null })),
  ...(clientSecret !== '' && { clientSecret }),
})

/** Adds or changes a provider. The id of a new one is chosen here, because the provider needs addresses with it. */
export function ProviderPanel({ provider, close }: { provider: IdentityProvider | null; close(): void }) {
  const texts = t.settings.sso
  const queries = useQueryClient()
  const [id] = useState(() => provider?.id ?? newUuid())
  const draft = useDraft(draftOf(provider))
  const { value, set } = draft
  const send = () => saveProvider(id, inputOf(value))
  const save = useSave(draft, send, async ({ name }) => {
    await queries.invalidateQueries({ queryKey: providersKey })
    showToast(texts.saved({ name }))
    close()
  })
  const start = `${window.location.origin}/sso/${id}`
  return (
    <EditPanel title={provider === null ? texts.add : provider.name} close={close} save={save}>
      <ClientFields draft={draft} isNew={provider === null} />
      {provider === null && (
        <Addresses redirectUri={`${start}/callback`} logoutUri={`${start}/logout`} startUri={start} />
      )}
      <PeopleFields draft={draft} />
      <AccessRules draft={draft} />
      <Checkbox
        label={texts.breakGlass}
        description={texts.breakGlassHelp}
        checked={value.breakGlass.includes(currentUser().id)}
        onChange={(event) => {
          const others = value.breakGlass.filter((one) => one !== currentUser().id)
          set({ breakGlass: event.currentTarget.checked ? [...others, currentUser().id] : others })
        }}
        error={draft.errorOf('breakGlass')}
      />
      <Switch label={texts.enabled} {...checkField(draft, 'isEnabled')} />
    </EditPanel>
  )
}

function ClientFields({ draft, isNew }: { draft: Draft<ProviderDraft>; isNew: boolean }) {
  const texts = t.settings.sso
  const field = (name: 'name' | 'issuer' | 'clientId' | 'clientSecret') => ({
    ...textField(draft, name),
    label: texts[name],
    autoComplete: 'off',
  })
  return (
    <>
      <TextInput {...field('name')} description={texts.nameHelp} maxLength={60} data-autofocus />
      <TextInput {...field('issuer')} description={texts.issuerHelp} maxLength={500} type="url" />
      <TextInput {...field('clientId')} maxLength={300} />
      <PasswordInput
        {...field('clientSecret')}
        description={isNew ? undefined : texts.secretKept}
        maxLength={1000}
        visibilityToggleButtonProps={{ 'aria-label': t.profile.showPassword }}
      />
    </>
  )
}

function PeopleFields({ draft }: { draft: Draft<ProviderDraft> }) {
  const texts = t.settings.sso
  return (
    <>
      <TextInput
        label={texts.domains}
        description={texts.domainsHelp}
        {...textField(draft, 'domains')}
        maxLength={10_000}
      />
      <Stack gap="xs">
        <Checkbox
          label={texts.linksByEmail}
          description={texts.linksByEmailHelp}
          {...checkField(draft, 'linksByEmail')}
        />
        <Checkbox
          label={texts.createsPeople}
          description={texts.createsPeopleHelp}
          {...checkField(draft, 'createsPeople')}
        />
      </Stack>
      <TextInput
        label={texts.groupsClaim}
        description={texts.groupsClaimHelp}
        {...textField(draft, 'groupsClaim')}
        maxLength={200}
      />
    </>
  )
}

/** A random UUID; `crypto.randomUUID` exists only on encrypted pages. */
function newUuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  const hex = Array.from(bytes, (byte, at) => {
    const marked = at === 6 ? (byte & 15) | 64 : at === 8 ? (byte & 63) | 128 : byte
    return marked.toString(16).padStart(2, '0')
  }).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** A rule as typed; an empty group stands for everyone. */
type RuleDraft = Omit<AccessRule, 'group'> & { group: string }

/** Rows that give roles in workspaces. */
function AccessRules({ draft }: { draft: Draft<{ access: RuleDraft[] } & object> }) {
  const texts = t.settings.sso
  const { data: workspaces = [] } = useAllWorkspaces()
  const { access } = draft.value
  const change = (at: number, changes: Partial<RuleDraft>) =>
    draft.set({ access: access.map((rule, index) => (index === at ? { ...rule, ...changes } : rule)) })
  return (
    <Input.Wrapper
      label={texts.access}
      labelElement="div"
      description={texts.accessHelp}
      error={draft.errorOf('access')}
    >
      <Stack gap="xs" mt={6}>
        {access.map((rule, at) => (
          // Rows have no identity of their own.
          // biome-ignore lint/suspicious/noArrayIndexKey: the rows are edited in place
          <Group key={at} gap={6} align="flex-end" wrap="nowrap">
            <TextInput
              flex={1}
              label={texts.group}
              placeholder={texts.everyone}
              value={rule.group}
              maxLength={200}
              onChange={(event) => change(at, { group: event.currentTarget.value })}
            />
            <Select
              flex={1}
              label={texts.workspace}
              data={workspaces.map(({ id, name }) => ({ value: id, label: name }))}
              value={rule.workspaceId}
              onChange={(id) => change(at, { workspaceId: id ?? rule.workspaceId })}
              allowDeselect={false}
            />
            <Select
              flex={1}
              label={texts.role}
              data={roleValues.map((role) => ({ value: role, label: t.settings.roles[role] }))}
              value={rule.role}
              onChange={(role) => change(at, { role: (role ?? rule.role) as Role })}
              allowDeselect={false}
            />
            <ActionIcon
              variant="subtle"
              color="red"
              size="lg"
              aria-label={texts.removeRule({ n: at + 1 })}
              onClick={() => draft.set({ access: access.filter((_, index) => index !== at) })}
            >
              <IconTrash size={16} />
            </ActionIcon>
          </Group>
        ))}
        <Button
          variant="default"
          leftSection={<IconPlus size={16} />}
          disabled={workspaces.length === 0}
          onClick={() =>
            draft.set({ access: [...access, { group: '', workspaceId: workspaces[0]?.id ?? '', role: 'member' }] })
          }
        >
          {texts.addRule}
        </Button>
      </Stack>
    </Input.Wrapper>
  )
}
