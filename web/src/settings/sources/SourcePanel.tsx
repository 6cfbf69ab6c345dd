import { Button, Select, Switch, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useConnections } from '../../data/connections.ts'
import { changeSource, createSource, deleteSource, type LeadSource, sourcesKey } from '../../data/team/lead-sources.ts'
import { t } from '../../text/index.ts'
import { Copyable } from '../../ui/Copyable.tsx'
import { showError } from '../../ui/overlay/toasts.tsx'
import { type Draft, useDraft } from '../../ui/use-draft.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { checkField, textField, useSave } from '../draft/draft-fields.ts'
import { EditPanel } from '../draft/EditPanel.tsx'
import { MappingFields } from './MappingFields.tsx'
import { draftOf, filledRows, inputOf, mappings, type SourceDraft } from './source-draft.ts'

/** Adds or changes a source. A new one stays open, because its address and secret must be copied. */
export function SourcePanel({ source, close }: { source: LeadSource | null; close(): void }) {
  const workspaceId = useWorkspaceId()
  const texts = t.settings.sources
  const queries = useQueryClient()
  const [saved, setSaved] = useState(source)
  const draft = useDraft(draftOf(source))
  const { value, set } = draft
  const refetch = () => queries.invalidateQueries({ queryKey: sourcesKey(workspaceId) })
  const send = () => {
    const { kind, ...input } = inputOf(value)
    return saved === null ? createSource(workspaceId, { kind, ...input }) : changeSource(workspaceId, saved.id, input)
  }
  const { mutate, isPending } = useSave(draft, send, async (changed) => {
    await refetch()
    if (saved === null) setSaved(changed)
    else close()
  })
  const save = () => {
    set({ mapping: filledRows(value.mapping) })
    mutate()
  }
  const renew = () => void changeSource(workspaceId, saved?.id ?? '', { newSecret: true }).then(setSaved, showError)
  return (
    <EditPanel
      title={saved?.name ?? texts.add}
      close={close}
      save={{ mutate: save, isPending }}
      remove={
        saved !== null && {
          title: texts.deleteConfirm({ name: saved.name }),
          help: texts.deleteHelp,
          run: () => deleteSource(workspaceId, saved.id).then(refetch).then(close, showError),
        }
      }
    >
      {saved !== null && <Addresses source={saved} renew={renew} />}
      <TextInput label={texts.name} {...textField(draft, 'name')} maxLength={100} data-autofocus />
      <KindFields draft={draft} isNew={saved === null} />
      <MappingFields draft={draft} />
      <Switch label={texts.enabled} {...checkField(draft, 'isEnabled')} />
    </EditPanel>
  )
}

function Addresses({ source: { kind, proof, url, secret }, renew }: { source: LeadSource; renew(): void }) {
  const texts = t.settings.sources
  const isInUrl = kind === 'webhook' && proof === 'url'
  const label = kind === 'lead_ads' ? texts.verifyToken : texts.secret
  return (
    <div>
      <Text size="sm" c="dimmed">
        {kind === 'lead_ads' ? texts.adsHelp : isInUrl ? texts.urlHelp : texts.signatureHelp}
      </Text>
      <Text size="sm" fw={500} mt="xs">
        {texts.url}
      </Text>
      <Copyable value={url} label={texts.url} />
      {!isInUrl && (
        <>
          <Text size="sm" fw={500} mt="xs">
            {label}
          </Text>
          <Copyable value={secret} label={label} />
        </>
      )}
      <Button size="compact-sm" variant="default" mt="xs" onClick={renew}>
        {texts.renew}
      </Button>
    </div>
  )
}

function KindFields({ draft, isNew }: { draft: Draft<SourceDraft>; isNew: boolean }) {
  const { value, set, errorOf } = draft
  const texts = t.settings.sources
  const { data: connections = [] } = useConnections(useWorkspaceId())
  const changeKind = (kind: SourceDraft['kind']) => set({ kind, mapping: mappings[kind] })
  return (
    <>
      {isNew && (
        <Select
          label={texts.kind}
          data={(['webhook', 'lead_ads'] as const).map((one) => ({ value: one, label: texts.kinds[one] }))}
          value={value.kind}
          onChange={(kind) => kind !== null && changeKind(kind as SourceDraft['kind'])}
          allowDeselect={false}
        />
      )}
      {value.kind === 'webhook' ? (
        <Select
          label={texts.proof}
          data={(['signature', 'url'] as const).map((one) => ({ value: one, label: texts.proofs[one] }))}
          value={value.proof}
          onChange={(proof) => proof !== null && set({ proof: proof as SourceDraft['proof'] })}
          allowDeselect={false}
        />
      ) : (
        <>
          <Select
            label={texts.connection}
            description={texts.connectionHelp}
            data={connections
              .filter(({ channel }) => channel === 'waba')
              .map(({ id, name }) => ({ value: id, label: name }))}
            value={value.connectionId}
            onChange={(connectionId) => set({ connectionId })}
            error={errorOf('connectionId')}
          />
          <TextInput
            label={texts.pageId}
            description={texts.pageIdHelp}
            {...textField(draft, 'pageId')}
            maxLength={30}
          />
          <TextInput
            label={texts.formIds}
            description={texts.formIdsHelp}
            {...textField(draft, 'formIds')}
            maxLength={4000}
          />
        </>
      )}
    </>
  )
}
