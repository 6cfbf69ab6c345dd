import { Button, Radio, Select, Stack, Switch, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { createKey, useApiKeys, useInvalidateKeys } from '../../data/keys.ts'
import { hasRole } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import { Copyable } from '../../ui/Copyable.tsx'
import { showError } from '../../ui/overlay/toasts.tsx'
import { Section } from '../../ui/page/Section.tsx'
import { useDraft } from '../../ui/use-draft.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { type PresetName, presets } from '../presets.ts'

export interface ChosenKey {
  id: string
  name: string
  /** Known only right after the key was made. */
  value: string | null
}

interface KeyChoiceProps {
  /** Name of the app, for the name of a new key. */
  title: string
  chosen: ChosenKey | null
  choose(key: ChosenKey | null): void
}

const newKey = 'new'

/** Makes a key for the agent, or takes one that the person already has. */
export function KeyChoice({ title, chosen, choose }: KeyChoiceProps) {
  const texts = t.keys.connect
  const workspaceId = useWorkspaceId()
  const { data: keys = [] } = useApiKeys(workspaceId)
  const usable = keys.filter(({ status, oauth }) => status === 'active' && oauth === null)
  const mayCreate = hasRole(workspaceId, 'admin')
  const options = [
    ...(mayCreate ? [{ value: newKey, label: t.keys.create }] : []),
    ...usable.map(({ id, name }) => ({ value: id, label: name })),
  ]
  const pick = (id: string | null) => {
    const found = usable.find((key) => key.id === id)
    choose(found === undefined ? null : { id: found.id, name: found.name, value: null })
  }
  if (chosen?.value != null) {
    return (
      <Section title={texts.key} help={texts.keyMade({ name: chosen.name })}>
        <Copyable label={t.keys.value} value={chosen.value} />
      </Section>
    )
  }
  return (
    <Section title={texts.key} help={mayCreate ? texts.keyHelp : texts.adminsOnly}>
      {options.length > (mayCreate ? 1 : 0) && (
        <Select
          label={texts.whichKey}
          description={chosen === null ? undefined : texts.ownValue}
          data={options}
          value={chosen?.id ?? (mayCreate ? newKey : null)}
          onChange={pick}
          allowDeselect={false}
        />
      )}
      {mayCreate && chosen === null && <NewKey key={title} title={title} made={choose} />}
    </Section>
  )
}

function NewKey({ title, made }: { title: string; made(key: ChosenKey): void }) {
  const workspaceId = useWorkspaceId()
  const changed = useInvalidateKeys(workspaceId)
  const [preset, setPreset] = useState<Exclude<PresetName, 'syncing'>>('answering')
  const draft = useDraft({ name: title, answersNewConversations: false })
  const { value, set, errorOf } = draft
  const create = useMutation({
    mutationFn: () => {
      const { scopes, phoneVisibility } = presets[preset]
      const answersNewConversations = preset === 'answering' && value.answersNewConversations
      return createKey(workspaceId, {
        name: value.name.trim(),
        scopes: [...scopes],
        phoneVisibility,
        answersNewConversations,
      })
    },
    onSuccess: ({ key, value: secret }) => {
      made({ id: key.id, name: key.name, value: secret })
      void changed()
    },
    onError: (error) => draft.applyError(error) || showError(error),
  })
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        create.mutate()
      }}
    >
      <Stack gap="md" align="flex-start">
        <TextInput
          label={t.keys.name}
          description={t.keys.nameHelp}
          value={value.name}
          onChange={(event) => set({ name: event.currentTarget.value })}
          error={errorOf('name')}
          w="100%"
        />
        <Radio.Group label={t.keys.preset} value={preset} onChange={(name) => setPreset(name as typeof preset)}>
          <Stack gap={6} mt={4}>
            {(['answering', 'reading'] as const).map((name) => (
              <Radio key={name} value={name} label={t.keys.presets[name]} description={t.keys.presetHelp[name]} />
            ))}
          </Stack>
        </Radio.Group>
        {preset === 'answering' && (
          <Switch
            label={t.keys.answersNew}
            description={t.keys.answersNewHelp}
            checked={value.answersNewConversations}
            onChange={(event) => set({ answersNewConversations: event.currentTarget.checked })}
          />
        )}
        <Button type="submit" loading={create.isPending}>
          {t.keys.connect.createKey}
        </Button>
      </Stack>
    </form>
  )
}
