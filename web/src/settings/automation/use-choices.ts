import { useCannedReplies } from '../../data/canned-replies.ts'
import { useConnections } from '../../data/connections.ts'
import { useApiKeys } from '../../data/keys.ts'
import { useLabelsById } from '../../data/labels.ts'
import { useLeadFields } from '../../data/lead-fields.ts'
import { useSequences } from '../../data/outreach/sequences.ts'
import { useMemberList } from '../../data/team/members.ts'
import { useTeamList } from '../../data/team/routing.ts'
import { useEndpoints } from '../../data/webhooks.ts'
import { useStatuses } from '../../data/workspace.ts'
import { language, t } from '../../text/index.ts'
import { countryCodes } from '../../ui/format/country-codes.ts'
import { languageName } from '../../ui/format/language-name.ts'
import { customFieldName, statusName } from '../../ui/format/lead-texts.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import type { Field } from './rule-draft.ts'

export interface Choice {
  value: string
  label: string
}

const entries = (names: Record<string, string>): Choice[] =>
  Object.entries(names).map(([value, label]) => ({ value, label }))

/** Everything that rules can name, for choices. */
export function useChoices() {
  const workspaceId = useWorkspaceId()
  const texts = t.settings.automation
  const { any: _, ...statuses } = t.inbox.statuses
  const named = (list: readonly { id: string; name: string }[] = []): Choice[] =>
    list.map(({ id, name }) => ({ value: id, label: name }))
  return {
    labels: named([...useLabelsById(workspaceId).values()]),
    members: useMemberList(workspaceId).map(({ userId, name }) => ({ value: userId, label: name })),
    teams: named(useTeamList(workspaceId)),
    connections: named(useConnections(workspaceId).data),
    keys: named((useApiKeys(workspaceId).data ?? []).filter(({ status }) => status === 'active')),
    statuses: entries(statuses),
    leadStatuses: useStatuses(workspaceId).map((value) => ({ value, label: statusName(value) })),
    leadFields: useLeadFields(workspaceId).map((field) => ({ value: field.key, label: customFieldName(field) })),
    replies: (useCannedReplies(workspaceId).data ?? []).map(({ id, shortcut }) => ({
      value: id,
      label: `/${shortcut}`,
    })),
    endpoints: (useEndpoints(workspaceId).data ?? []).map(({ id, description, url }) => ({
      value: id,
      label: description ?? url,
    })),
    sequences: named(useSequences(workspaceId).data),
    priorities: entries(texts.priorities),
  }
}
export type Choices = ReturnType<typeof useChoices>

/** Returns the most common languages of all countries, by their names. */
function languages(): Choice[] {
  const codes = new Set(countryCodes.map((region) => new Intl.Locale('und', { region }).maximize().language))
  return [...codes]
    .map((value) => ({ value, label: languageName(value) }))
    .sort((a, b) => a.label.localeCompare(b.label, language))
}

/** Returns the values of a condition to choose from; null: they are typed. */
export function valuesFor(field: Field, choices: Choices): Choice[] | null {
  const texts = t.settings.automation
  const { nobody, noTeam } = t.inbox.actions
  const lists: Partial<Record<Field, () => Choice[]>> = {
    connection: () => choices.connections,
    channel: () => entries(t.inbox.channels),
    language: languages,
    status: () => choices.statuses,
    label: () => choices.labels,
    added_label: () => choices.labels,
    owner: () => [...entries(texts.owners), ...choices.keys],
    assignee: () => [{ value: 'nobody', label: nobody }, ...choices.members],
    team: () => [{ value: 'none', label: noTeam }, ...choices.teams],
    priority: () => [...choices.priorities, { value: 'none', label: texts.noPriority }],
    hours: () => entries(texts.hours),
    message_kind: () => entries(t.inbox.kinds),
    actor: () => entries(texts.actors),
    lead_status: () => choices.leadStatuses,
    lead_source: () => entries(t.lead.sources),
  }
  return lists[field]?.() ?? null
}
