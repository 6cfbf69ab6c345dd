import { MultiSelect, NumberInput, Radio, Stack, Switch, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useMemberList } from '../../data/team/members.ts'
import { changeTeam, createTeam, deleteTeam, type Team } from '../../data/team/routing.ts'
import { routingKey, teamsKey } from '../../data/workspace-updates.ts'
import { t } from '../../text/index.ts'
import { textField, useSave } from '../../ui/draft-fields.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import { type Draft, useDraft } from '../../ui/use-draft.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { EditPanel } from '../draft/EditPanel.tsx'

interface TeamPanelProps {
  /** Null for a new team. */
  team: Team | null
  close(): void
}

interface TeamDraft {
  name: string
  assignment: Team['assignment']
  /** Empty while it is being typed; null: nobody loses a conversation. */
  answerMinutes: number | '' | null
  maxReassignments: number | ''
  memberIds: string[]
}

const assignments = ['round_robin', 'least_busy', 'manual'] as const
const defaultMinutes = 15

export function TeamPanel({ team, close }: TeamPanelProps) {
  const workspaceId = useWorkspaceId()
  const texts = t.settings.routing
  const queries = useQueryClient()
  const members = useMemberList(workspaceId)
  const draft = useDraft<TeamDraft>({
    name: team?.name ?? '',
    assignment: team?.assignment ?? 'round_robin',
    answerMinutes: team?.answerMinutes ?? null,
    maxReassignments: team?.maxReassignments ?? 3,
    memberIds: team?.memberIds ?? [],
  })
  const { value, set, errorOf } = draft
  const done = async () => {
    for (const key of [teamsKey, routingKey]) await queries.invalidateQueries({ queryKey: key(workspaceId) })
    close()
  }
  const send = async () => {
    const answerMinutes = value.answerMinutes === null ? null : Number(value.answerMinutes)
    const maxReassignments = Number(value.maxReassignments)
    const next = { ...value, name: value.name.trim(), answerMinutes, maxReassignments }
    if (team === null) await createTeam(workspaceId, next)
    else await changeTeam(workspaceId, team.id, next)
  }
  const save = useSave(draft, send, done)
  return (
    <EditPanel
      title={team === null ? texts.create : texts.change({ name: team.name })}
      close={close}
      save={save}
      remove={
        team !== null && {
          title: texts.deleteConfirm({ name: team.name }),
          help: texts.deleteHelp,
          confirmText: team.name,
          run: () => deleteTeam(workspaceId, team.id).then(done, showError),
        }
      }
    >
      <TextInput label={texts.name} {...textField(draft, 'name')} maxLength={50} data-autofocus />
      <MultiSelect
        label={texts.members}
        data={members.map(({ userId, name }) => ({ value: userId, label: name }))}
        value={value.memberIds}
        onChange={(memberIds) => set({ memberIds })}
        error={errorOf('memberIds')}
        maxValues={200}
        searchable
      />
      <AssignmentFields draft={draft} />
    </EditPanel>
  )
}

function AssignmentFields({ draft: { value, set, errorOf } }: { draft: Draft<TeamDraft> }) {
  const texts = t.settings.routing
  const numberField = (name: 'answerMinutes' | 'maxReassignments', max: number, number: number | '') => (
    <NumberInput
      label={texts[name]}
      w={220}
      min={1}
      max={max}
      allowDecimal={false}
      value={number}
      onChange={(typed) => set({ [name]: typed === '' ? '' : Number(typed) })}
      error={errorOf(name)}
    />
  )
  return (
    <>
      <Radio.Group
        label={texts.assignment}
        value={value.assignment}
        onChange={(assignment) => set({ assignment: assignment as Team['assignment'] })}
      >
        <Stack gap={8} mt={6}>
          {assignments.map((one) => (
            <Radio key={one} value={one} label={texts.assignments[one]} description={texts.assignmentHelp[one]} />
          ))}
        </Stack>
      </Radio.Group>
      {value.assignment !== 'manual' && (
        <Switch
          label={texts.reassigns}
          description={texts.reassignsHelp}
          checked={value.answerMinutes !== null}
          onChange={(event) => set({ answerMinutes: event.currentTarget.checked ? defaultMinutes : null })}
        />
      )}
      {value.assignment !== 'manual' && value.answerMinutes !== null && (
        <>
          {numberField('answerMinutes', 1440, value.answerMinutes)}
          {numberField('maxReassignments', 10, value.maxReassignments)}
        </>
      )}
    </>
  )
}
