import { Select } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useConnections } from '../../data/connections.ts'
import { useApiKeys } from '../../data/keys.ts'
import { type Scope, useScopes, useVersions, type Versions } from '../../data/team/instructions.ts'
import { hasRole } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import { formatNumber } from '../../ui/format/time.ts'
import { QueryBoundary } from '../../ui/page/PageBody.tsx'
import { Section } from '../../ui/page/Section.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { DraftEditor } from './DraftEditor.tsx'
import { History } from './History.tsx'
import styles from './Instructions.module.css'
import { scopeIn, scopeValue, searchOf } from './scope.ts'

/** What the team tells its agents: all of them, one key, or in the conversations of one connection. */
export function InstructionsSection() {
  const scope = scopeIn(useSearch({ strict: false }))
  const query = useVersions(useWorkspaceId(), scope)
  return (
    <>
      <ScopePicker scope={scope} />
      <QueryBoundary query={query}>
        {(data) => <OfScope key={scopeValue(scope)} scope={scope} data={data} />}
      </QueryBoundary>
    </>
  )
}

function OfScope({ scope, data }: { scope: Scope; data: Versions }) {
  const mayChange = hasRole(useWorkspaceId(), 'admin')
  return (
    <>
      {mayChange ? <DraftEditor scope={scope} data={data} /> : <InForce data={data} />}
      <History data={data} mayChange={mayChange} />
    </>
  )
}

/** For members, who read only. */
function InForce({ data: { versions } }: { data: Versions }) {
  const [newest] = versions
  return (
    <Section title={t.settings.agents.instructions} help={t.settings.adminsOnly}>
      {newest?.text == null ? (
        <p className={styles.hint}>{t.settings.agents.instructionsEmpty}</p>
      ) : (
        <div className={styles.inForce} dir="auto">
          {newest.text}
        </div>
      )}
    </Section>
  )
}

function ScopePicker({ scope }: { scope: Scope }) {
  const workspaceId = useWorkspaceId()
  const navigate = useNavigate()
  const groups = useScopeOptions(scope)
  return (
    <Select
      mb="md"
      maw={420}
      label={t.instructions.scope}
      description={t.instructions.scopeHelp}
      data={groups}
      value={scopeValue(scope)}
      onChange={(value) =>
        value !== null &&
        void navigate({
          to: '/w/$workspaceId/settings/$section',
          params: { workspaceId, section: 'instructions' },
          search: searchOf(value),
        })
      }
      searchable
      allowDeselect={false}
    />
  )
}

/** Every agent, the active keys and the connections, each with its version; and what is shown, even if it is neither. */
function useScopeOptions(shown: Scope) {
  const workspaceId = useWorkspaceId()
  const texts = t.instructions
  const { data: keys = [] } = useApiKeys(workspaceId)
  const { data: connections = [] } = useConnections(workspaceId)
  const { data: scopes = [] } = useScopes(workspaceId)
  const known = new Map(scopes.map((one) => [scopeValue(one), one]))
  const item = (of: Scope, name: string) => {
    const value = scopeValue(of)
    const { version = 0, hasText = false, hasDraft = false } = known.get(value) ?? {}
    const facts = [
      ...(version > 0 && hasText ? [texts.version({ n: formatNumber(version) })] : []),
      ...(hasDraft ? [texts.draft] : []),
    ]
    return { value, label: [name, ...facts].join(' · ') }
  }
  const used = keys.filter(({ id, status }) => status === 'active' || id === shown.keyId)
  const groups = [
    { group: texts.everyone, items: [item(scopeIn({}), texts.everyAgent)] },
    { group: t.keys.title, items: used.map(({ id, name }) => item(scopeIn({ key: id }), name)) },
    { group: t.connections.title, items: connections.map(({ id, name }) => item(scopeIn({ connection: id }), name)) },
  ]
  const value = scopeValue(shown)
  const isListed = groups.some(({ items }) => items.some((one) => one.value === value))
  const other = isListed ? [] : [{ group: t.common.unknown, items: [item(shown, t.common.unknown)] }]
  return [...groups, ...other].filter(({ items }) => items.length > 0)
}
