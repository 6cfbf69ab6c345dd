import { Button, Fieldset, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import { useLeadFields } from '../../data/lead-fields.ts'
import { t } from '../../text/index.ts'
import type { Draft } from '../../ui/use-draft.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { textField } from '../draft/draft-fields.ts'
import { RowButton } from '../parts/RowButton.tsx'
import type { SourceDraft } from './source-draft.ts'

const targets = [
  ...(['name', 'firstName', 'lastName', 'phone', 'email', 'externalRef', 'notes', 'estimatedValue'] as const),
  ...(['utm_source', 'utm_medium', 'utm_campaign', 'utm_content', 'utm_term', 'fbclid', 'gclid', 'url'] as const),
] as const
const maxMapped = 40

/** Which value of a request becomes which field, and by which field a lead is found. */
export function MappingFields({ draft }: { draft: Draft<SourceDraft> }) {
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
