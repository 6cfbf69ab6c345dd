import { Button, MultiSelect, NumberInput, Radio, Stack, Switch, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useMemberList } from '../../data/team/members.ts'
import { changeTeam, createTeam, deleteTeam, type Team } from '../../data/team/routing.ts'
import { routingKey, teamsKey } from '../../data/workspace-updates.ts'
import { t } from '../../text/index.ts'
import { Confirm } from '../../ui/overlay/Confirm.tsx'
import { showError } from '../../ui/overlay/toasts.tsx'
import { PanelButtons } from '../../ui/page/PanelButtons.tsx'
import { SidePanel } from '../../ui/page/SidePanel.tsx'
import { type Draft, useDraft } from '../../ui/use-draft.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'

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
  const [isConfirming, setConfirming] = useState(false)
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
  const save = useMutation({
    mutationFn: async () => {
      const answerMinutes = value.answerMinutes === null ? null : Number(value.answerMinutes)
      const maxReassignments = Number(value.maxReassignments)
      const next = { ...value, name: value.name.trim(), answerMinutes, maxReassignments }
      if (team === null) await createTeam(workspaceId, next)
      else await changeTeam(workspaceId, team.id, next)
    },
    onSuccess: done,
    onError: (error) => draft.applyError(error) || showError(error),
  })
  return (
    <SidePanel
      title={team === null ? texts.create : texts.change({ name: team.name })}
      close={close}
      submit={() => save.mutate()}
      footer={
        <>
          {team !== null && (
            <Button variant="default" c="var(--bad)" mr="auto" onClick={() => setConfirming(true)}>
              {t.common.delete}
            </Button>
          )}
          <PanelButtons close={close} action={t.common.save} isBusy={save.isPending} />
        </>
      }
    >
      <TextInput
        label={texts.name}
        value={value.name}
        maxLength={50}
        onChange={(event) => set({ name: event.currentTarget.value })}
        error={errorOf('name')}
        data-autofocus
      />
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
      {isConfirming && team !== null && (
        <Confirm
          title={texts.deleteConfirm({ name: team.name })}
          action={t.common.delete}
          confirmText={team.name}
          run={() => deleteTeam(workspaceId, team.id).then(done, showError)}
          close={() => setConfirming(false)}
        >
          {texts.deleteHelp}
        </Confirm>
      )}
    </SidePanel>
  )
}

function AssignmentFields({ draft: { value, set, errorOf } }: { draft: Draft<TeamDraft> }) {
  const texts = t.settings.routing
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
          <NumberInput
            label={texts.answerMinutes}
            w={220}
            min={1}
            max={1440}
            allowDecimal={false}
            value={value.answerMinutes}
            onChange={(answerMinutes) => set({ answerMinutes: answerMinutes === '' ? '' : Number(answerMinutes) })}
            error={errorOf('answerMinutes')}
          />
          <NumberInput
            label={texts.maxReassignments}
            w={220}
            min={1}
            max={10}
            allowDecimal={false}
            value={value.maxReassignments}
            onChange={(times) => set({ maxReassignments: times === '' ? '' : Number(times) })}
            error={errorOf('maxReassignments')}
          />
        </>
      )}
    </>
  )
}
