import { Button, Fieldset, Group, Select, Stack, Switch, Text, TextInput } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useConnections } from '../../data/connections.ts'
import { useLeadFields } from '../../data/lead-fields.ts'
import {
  changeSource,
  createSource,
  deleteSource,
  type LeadSource,
  type SourceInput,
  sourcesKey,
} from '../../data/team/lead-sources.ts'
import { t } from '../../text/index.ts'
import { Copyable } from '../../ui/Copyable.tsx'
import { checkField, textField, useSave } from '../../ui/draft-fields.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import { type Draft, useDraft } from '../../ui/use-draft.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { EditPanel } from '../draft/EditPanel.tsx'
import { RowButton } from '../parts/RowButton.tsx'

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

const targets = [
  ...(['name', 'firstName', 'lastName', 'phone', 'email', 'externalRef', 'notes', 'estimatedValue'] as const),
  ...(['utm_source', 'utm_medium', 'utm_campaign', 'utm_content', 'utm_term', 'fbclid', 'gclid', 'url'] as const),
] as const
const maxMapped = 40

/** Which value of a request becomes which field, and by which field a lead is found. */
function MappingFields({ draft }: { draft: Draft<SourceDraft> }) {
  const { value, set, errorOf, issueAt } = draft
  const texts = t.settings.sources
  const fields = useLeadFields(useWorkspaceId())
  const { mapping } = value
  const change = (n: number, changes: Partial<(typeof mapping)[number]>) =>
    set({ mapping: mapping.map((one, at) => (at === n ? { ...one, ...changes } : one)) })
  const options = [
    ...targets.map((one) => ({ value: one as string, label: texts.targets[one] })),
    ...fields.map(({ key, label }) => ({ value: `custom.${key}`, label })),
  ]
  return (
    <>
      <Fieldset legend={texts.mapping}>
        <Stack gap="xs">
          <Text size="sm" c="dimmed">
            {value.kind === 'lead_ads' ? texts.mappingHelpAds : texts.mappingHelp}
          </Text>
          {mapping.map(({ path, field }, n) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity but their place
            <Group key={n} gap="xs" align="start" wrap="nowrap">
              <TextInput
                flex={1}
                aria-label={texts.pathOf({ n: n + 1 })}
                placeholder="contact.phone"
                value={path}
                maxLength={200}
                onChange={(event) => change(n, { path: event.currentTarget.value })}
                error={issueAt(`mapping[${n}].path`)}
              />
              <Select
                flex={1}
                aria-label={texts.fieldOf({ n: n + 1 })}
                data={
                  options.some((one) => one.value === field) ? options : [...options, { value: field, label: field }]
                }
                value={field}
                onChange={(next) => next !== null && change(n, { field: next })}
                error={issueAt(`mapping[${n}].field`)}
                searchable
                allowDeselect={false}
              />
              <RowButton
                mt={6}
                label={texts.removeRow({ n: n + 1 })}
                icon={IconX}
                run={() => set({ mapping: mapping.toSpliced(n, 1) })}
              />
            </Group>
          ))}
          {issueAt('mapping') !== undefined && (
            <Text size="sm" c="var(--bad)" role="alert">
              {errorOf('mapping')}
            </Text>
          )}
          {mapping.length < maxMapped && (
            <Button
              variant="default"
              size="compact-sm"
              leftSection={<IconPlus size={14} />}
              onClick={() => set({ mapping: [...mapping, { path: '', field: 'notes' }] })}
            >
              {texts.addRow}
            </Button>
          )}
        </Stack>
      </Fieldset>
      <MatchFields draft={draft} />
    </>
  )
}

function MatchFields({ draft }: { draft: Draft<SourceDraft> }) {
  const { value, set } = draft
  const texts = t.settings.sources
  return (
    <>
      <Select
        label={texts.match}
        description={texts.matchHelp}
        data={(['phone', 'email', 'externalRef'] as const).map((one) => ({ value: one, label: texts.targets[one] }))}
        value={value.match}
        onChange={(match) => match !== null && set({ match: match as SourceDraft['match'] })}
        allowDeselect={false}
      />
      {value.kind === 'webhook' && (
        <TextInput
          label={texts.idPath}
          description={texts.idPathHelp}
          {...textField(draft, 'idPath')}
          maxLength={200}
        />
      )}
    </>
  )
}

/** A source while it is edited; texts as typed. */
interface SourceDraft extends Omit<SourceInput, 'formIds' | 'pageId' | 'idPath'> {
  formIds: string
  pageId: string
  idPath: string
}

const mappings = {
  webhook: [
    { path: 'name', field: 'name' },
    { path: 'phone', field: 'phone' },
    { path: 'email', field: 'email' },
  ],
  lead_ads: [
    { path: 'full_name', field: 'name' },
    { path: 'phone_number', field: 'phone' },
    { path: 'email', field: 'email' },
  ],
}

const blank: SourceDraft = {
  ...{ kind: 'webhook', name: '', isEnabled: true, proof: 'signature', match: 'phone', mapping: mappings.webhook },
  ...{ idPath: '', connectionId: null, pageId: '', formIds: '' },
}

function draftOf(source: LeadSource | null): SourceDraft {
  if (source === null) return blank
  const { kind, name, isEnabled, proof, match, mapping, connectionId, idPath, pageId, formIds } = source
  return {
    ...{ kind, name, isEnabled, proof, match, mapping, connectionId },
    ...{ idPath: idPath ?? '', pageId: pageId ?? '', formIds: formIds.join(', ') },
  }
}

/** Returns the rows that name a value. Errors of the server count only these. */
const filledRows = (mapping: SourceDraft['mapping']): SourceDraft['mapping'] =>
  mapping.filter(({ path }) => path.trim() !== '')

const inputOf = ({ formIds, pageId, idPath, mapping, ...rest }: SourceDraft): SourceInput => ({
  ...rest,
  mapping: filledRows(mapping).map(({ path, field }) => ({ path: path.trim(), field })),
  idPath: idPath.trim() || null,
  pageId: pageId.trim() || null,
  formIds: formIds.split(/[\s,;]+/).filter((id) => id !== ''),
})
