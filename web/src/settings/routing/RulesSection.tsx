import { Select } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useConnections } from '../../data/connections.ts'
import { useApiKeys } from '../../data/keys.ts'
import { changeRouting, type Routing, type Team } from '../../data/team/routing.ts'
import { routingKey } from '../../data/workspace-updates.ts'
import { t } from '../../text/index.ts'
import { showToast } from '../../ui/overlay/toasts.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { DraftSection, useSectionDraft } from '../draft/DraftSection.tsx'
import styles from './Routing.module.css'
import { choicesOf, type RuleChoice, rulesOf } from './rules-draft.ts'

interface RulesSectionProps {
  routing: Routing
  teams: readonly Team[]
}

/** Who gets the new conversations of each connection. */
export function RulesSection(props: RulesSectionProps) {
  const { data: connections } = useConnections(useWorkspaceId())
  // The form keeps what was loaded when it was opened.
  return connections === undefined ? null : <RulesForm {...props} connections={connections} />
}

type RulesFormProps = RulesSectionProps & { connections: readonly { id: string; name: string }[] }

function RulesForm({ routing, teams, connections }: RulesFormProps) {
  const workspaceId = useWorkspaceId()
  const texts = t.settings.routing
  const queries = useQueryClient()
  const draftOf = ({ rules }: Routing) => ({
    rules: choicesOf(
      rules,
      connections.map(({ id }) => id),
    ),
  })
  const draft = useSectionDraft(draftOf(routing), async ({ rules }) => {
    const changed = await changeRouting(workspaceId, { rules: rulesOf(rules) })
    queries.setQueryData(routingKey(workspaceId), changed)
    showToast(t.settings.saved)
    return draftOf(changed)
  })
  const { mayChange } = draft
  const error = draft.errorOf('rules')
  return (
    <DraftSection title={texts.rules} help={mayChange ? texts.rulesHelp : t.settings.adminsOnly} draft={draft}>
      {draft.value.rules.map((rule, n) => (
        <RuleFields
          key={rule.connectionId}
          name={connections.find(({ id }) => id === rule.connectionId)?.name ?? texts.allConnections}
          rule={rule}
          teams={teams}
          change={(to) => draft.set({ rules: draft.value.rules.with(n, { ...rule, ...to }) })}
          disabled={!mayChange}
        />
      ))}
      {error !== undefined && <p role="alert">{error}</p>}
    </DraftSection>
  )
}

interface RuleFieldsProps {
  name: string
  rule: RuleChoice
  teams: readonly Team[]
  change(to: Partial<RuleChoice>): void
  disabled: boolean
}

function RuleFields({ name, rule, teams, change, disabled }: RuleFieldsProps) {
  const texts = t.settings.routing
  const { data: keys = [] } = useApiKeys(useWorkspaceId())
  const answering = keys.filter(
    ({ id, status, scopes }) => (status === 'active' && scopes.includes('inbox.write')) || id === rule.agent,
  )
  const agents = [
    ...(rule.connectionId === null ? [] : [{ value: 'same', label: texts.agents.same }]),
    ...(['default', 'none'] as const).map((value) => ({ value, label: texts.agents[value] })),
    ...answering.map(({ id, name }) => ({ value: id, label: name })),
  ]
  return (
    <fieldset className={styles.rule} aria-label={name}>
      <span className={styles.name} aria-hidden="true">
        {name}
      </span>
      <Select
        aria-label={texts.agentOf({ name })}
        data={agents}
        value={rule.agent}
        allowDeselect={false}
        onChange={(agent) => agent !== null && change({ agent, ...(agent === 'same' && { team: '' }) })}
        disabled={disabled}
      />
      {rule.agent !== 'same' && (
        <Select
          aria-label={texts.teamOf({ name })}
          data={[{ value: '', label: texts.allPeople }, ...teams.map((team) => ({ value: team.id, label: team.name }))]}
          value={rule.team}
          allowDeselect={false}
          onChange={(team) => team !== null && change({ team })}
          disabled={disabled}
        />
      )}
    </fieldset>
  )
}
