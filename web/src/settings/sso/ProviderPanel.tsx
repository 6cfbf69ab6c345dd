import { Checkbox, PasswordInput, Stack, Switch, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type IdentityProvider, type ProviderInput, providersKey, saveProvider } from '../../data/team/sso.ts'
import { currentUser } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import { showError, showToast } from '../../ui/overlay/toasts.tsx'
import { PanelButtons } from '../../ui/page/PanelButtons.tsx'
import { SidePanel } from '../../ui/page/SidePanel.tsx'
import { type Draft, useDraft } from '../../ui/use-draft.ts'
import { AccessRules, type RuleDraft } from './AccessRules.tsx'
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
  const save = useMutation({
    mutationFn: () => saveProvider(id, inputOf(value)),
    onSuccess: async ({ name }) => {
      await queries.invalidateQueries({ queryKey: providersKey })
      showToast(texts.saved({ name }))
      close()
    },
    onError: (error) => draft.applyError(error) || showError(error),
  })
  const start = `${window.location.origin}/sso/${id}`
  return (
    <SidePanel
      title={provider === null ? texts.add : provider.name}
      close={close}
      submit={() => save.mutate()}
      footer={<PanelButtons close={close} action={t.common.save} isBusy={save.isPending} />}
    >
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
      <Switch
        label={texts.enabled}
        checked={value.isEnabled}
        onChange={(event) => set({ isEnabled: event.currentTarget.checked })}
      />
    </SidePanel>
  )
}

function ClientFields({ draft, isNew }: { draft: Draft<ProviderDraft>; isNew: boolean }) {
  const texts = t.settings.sso
  const { value, set, errorOf } = draft
  const field = (name: 'name' | 'issuer' | 'clientId') => ({
    value: value[name],
    label: texts[name],
    onChange: (event: { currentTarget: { value: string } }) => set({ [name]: event.currentTarget.value }),
    error: errorOf(name),
    autoComplete: 'off',
  })
  return (
    <>
      <TextInput {...field('name')} description={texts.nameHelp} maxLength={60} data-autofocus />
      <TextInput {...field('issuer')} description={texts.issuerHelp} maxLength={500} type="url" />
      <TextInput {...field('clientId')} maxLength={300} />
      <PasswordInput
        label={texts.clientSecret}
        description={isNew ? undefined : texts.secretKept}
        value={value.clientSecret}
        maxLength={1000}
        autoComplete="off"
        onChange={(event) => set({ clientSecret: event.currentTarget.value })}
        error={errorOf('clientSecret')}
        visibilityToggleButtonProps={{ 'aria-label': t.profile.showPassword }}
      />
    </>
  )
}

function PeopleFields({ draft: { value, set, errorOf } }: { draft: Draft<ProviderDraft> }) {
  const texts = t.settings.sso
  return (
    <>
      <TextInput
        label={texts.domains}
        description={texts.domainsHelp}
        value={value.domains}
        maxLength={10_000}
        onChange={(event) => set({ domains: event.currentTarget.value })}
        error={errorOf('domains')}
      />
      <Stack gap="xs">
        <Checkbox
          label={texts.linksByEmail}
          description={texts.linksByEmailHelp}
          checked={value.linksByEmail}
          onChange={(event) => set({ linksByEmail: event.currentTarget.checked })}
        />
        <Checkbox
          label={texts.createsPeople}
          description={texts.createsPeopleHelp}
          checked={value.createsPeople}
          onChange={(event) => set({ createsPeople: event.currentTarget.checked })}
        />
      </Stack>
      <TextInput
        label={texts.groupsClaim}
        description={texts.groupsClaimHelp}
        value={value.groupsClaim}
        maxLength={200}
        onChange={(event) => set({ groupsClaim: event.currentTarget.value })}
        error={errorOf('groupsClaim')}
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
