import { Anchor, Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useLeadFields } from '../../data/lead-fields.ts'
import {
  backFill,
  type LeadSource,
  retryRequest,
  type SourceRequest,
  sourcesKey,
  useSourceRequests,
} from '../../data/team/lead-sources.ts'
import { t } from '../../text/index.ts'
import { CodeBlock } from '../../ui/CodeBlock.tsx'
import { problemText } from '../../ui/format/error-texts.ts'
import { formatDateTime } from '../../ui/format/time.ts'
import { showError, showToast } from '../../ui/overlay/toasts.tsx'
import { EmptyState } from '../../ui/page/EmptyState.tsx'
import { Facts } from '../../ui/page/Facts.tsx'
import { QueryBoundary } from '../../ui/page/PageBody.tsx'
import { Section } from '../../ui/page/Section.tsx'
import { SidePanel } from '../../ui/page/SidePanel.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'

/** What a source has sent last, what it became, and why not; earlier leads of a form. */
export function RequestsPanel({ source, close }: { source: LeadSource; close(): void }) {
  const texts = t.settings.sources
  const query = useSourceRequests(useWorkspaceId(), source.id)
  return (
    <SidePanel title={texts.requestsOf({ name: source.name })} close={close} size={560}>
      <Stack gap="md">
        {source.kind === 'lead_ads' && <BackFill source={source} />}
        <QueryBoundary query={query} rows={4}>
          {(requests) =>
            requests.length === 0 ? (
              <EmptyState title={texts.noRequests} help={texts.noRequestsHelp} />
            ) : (
              <Stack gap="md">
                {requests.map((one, n) => (
                  <Request key={one.id} sourceId={source.id} request={one} place={n + 1} />
                ))}
              </Stack>
            )
          }
        </QueryBoundary>
      </Stack>
    </SidePanel>
  )
}

interface RequestProps {
  sourceId: string
  request: SourceRequest
  /** Tells requests of the same minute apart. */
  place: number
}

function Request({ sourceId, request, place }: RequestProps) {
  const workspaceId = useWorkspaceId()
  const texts = t.settings.sources
  const queries = useQueryClient()
  const { id, status, receivedAt, action, leadId, fields, issues, body } = request
  const nameOf = useFieldNames()
  const retry = () =>
    void retryRequest(workspaceId, sourceId, id).then(
      () => queries.invalidateQueries({ queryKey: sourcesKey(workspaceId) }),
      showError,
    )
  return (
    <Section
      title={`${place}. ${formatDateTime(receivedAt)}`}
      help={action === null ? texts.states[status] : texts.actions[action]}
    >
      {issues.map(({ path, message }) => (
        <Text key={`${path} ${message}`} size="sm" c="var(--bad)">
          {[nameOf(path), problemText(message)].filter(Boolean).join(': ')}
        </Text>
      ))}
      <Facts facts={Object.entries(fields).map(([field, value]) => [nameOf(field), value])} />
      <CodeBlock value={body} label={`${texts.body} ${place}`} isLow />
      <Group>
        {leadId !== null && (
          <Anchor component={Link} to={`/w/${workspaceId}/leads/${leadId}`} size="sm">
            {texts.openLead}
          </Anchor>
        )}
        {status === 'failed' && (
          <Button size="compact-sm" variant="default" onClick={retry}>
            {texts.retry}
          </Button>
        )}
      </Group>
    </Section>
  )
}

/** Returns the names of mapped fields; nothing for the matched value, which the message explains. */
function useFieldNames(): (path: string) => string {
  const fields = useLeadFields(useWorkspaceId())
  const targets: Readonly<Record<string, string>> = t.settings.sources.targets
  return (path) => {
    if (path === 'match') return ''
    const custom = fields.find(({ key }) => path === `custom.${key}` || path === `customFieldValues.${key}`)
    return custom?.label ?? (Object.hasOwn(targets, path) ? (targets[path] ?? path) : path)
  }
}

function BackFill({ source }: { source: LeadSource }) {
  const workspaceId = useWorkspaceId()
  const texts = t.settings.sources
  const [formId, setFormId] = useState(source.formIds[0] ?? '')
  const fetching = useMutation({
    mutationFn: () => backFill(workspaceId, source.id, formId.trim()),
    onSuccess: (added) => showToast(texts.fetched({ n: added })),
    onError: showError,
  })
  return (
    <Section
      title={texts.earlier}
      help={texts.earlierHelp}
      submit={() => fetching.mutate()}
      footer={
        <Button type="submit" loading={fetching.isPending} disabled={formId.trim() === ''}>
          {texts.fetch}
        </Button>
      }
    >
      <TextInput
        label={texts.formId}
        value={formId}
        maxLength={30}
        onChange={(event) => setFormId(event.currentTarget.value)}
      />
    </Section>
  )
}
