import { Anchor, Button, NumberInput, Switch, Text, Textarea } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useWorkspace, type Workspace } from '../data/workspace.ts'
import { useWorkspaceChange } from '../data/workspace-change.ts'
import { mayIn } from '../session/session.ts'
import { t } from '../text/index.ts'
import { Chip } from '../ui/Chip.tsx'
import { number } from '../ui/format/time.ts'
import { Confirm } from '../ui/overlay/Confirm.tsx'
import { complain } from '../ui/overlay/notices.tsx'
import { Loaded } from '../ui/page/PageBody.tsx'
import { Section } from '../ui/page/Section.tsx'
import { useDraft } from '../ui/use-draft.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'

const usualMinutes = 5
const longestMinutes = 10_080

export function AgentsSection() {
  const workspaceId = useWorkspaceId()
  const query = useWorkspace(workspaceId)
  return (
    <Loaded query={query}>
      {(workspace) => (
        <>
          <StopSwitch workspace={workspace} />
          <AgentWord workspace={workspace} />
          <Watchdog workspace={workspace} />
          <TakingBack workspace={workspace} />
          <Text size="sm" c="dimmed">
            {t.settings.agents.keys}{' '}
            <Anchor component={Link} to={`/w/${workspaceId}/keys`} size="sm" underline="always">
              {t.settings.agents.toKeys}
            </Anchor>
          </Text>
        </>
      )}
    </Loaded>
  )
}

function StopSwitch({ workspace }: { workspace: Workspace }) {
  const [asks, setAsks] = useState(false)
  const texts = t.settings.agents
  const { agentsStopped } = workspace
  const change = useWorkspaceChange(workspace, agentsStopped ? texts.startedAgain : texts.stoppedNow)
  const mayChange = mayIn(workspace.id, 'admin')
  const stop = () => change.mutateAsync({ agentsStopped: true }).then(() => setAsks(false), complain)
  return (
    <Section
      title={texts.stopTitle}
      help={mayChange ? agentsStopped && texts.startHelp : t.settings.adminsOnly}
      {...(agentsStopped && { tone: 'bad' as const })}
      footer={
        mayChange &&
        (agentsStopped ? (
          <Button
            loading={change.isPending}
            onClick={() => change.mutate({ agentsStopped: false }, { onError: complain })}
          >
            {texts.start}
          </Button>
        ) : (
          <Button color="red" variant="light" onClick={() => setAsks(true)}>
            {texts.stop}
          </Button>
        ))
      }
    >
      <div role="status">
        <Chip tone={agentsStopped ? 'bad' : 'good'}>{agentsStopped ? texts.stopped : texts.running}</Chip>
      </div>
      {asks && (
        <Confirm
          title={texts.stopAsk}
          action={texts.stop}
          word={texts.stopWord}
          run={stop}
          close={() => setAsks(false)}
        >
          {texts.stopHelp}
        </Confirm>
      )}
    </Section>
  )
}

const longestWord = 4000
const wordOf = ({ agentWord }: Workspace) => ({ agentWord: agentWord ?? '' })

/** What every agent of the workspace is told when it asks who it is. */
function AgentWord({ workspace }: { workspace: Workspace }) {
  const texts = t.settings.agents
  const draft = useDraft(wordOf(workspace))
  const { agentWord } = draft.value
  const change = useWorkspaceChange(workspace, t.settings.saved)
  const mayChange = mayIn(workspace.id, 'admin')
  const save = () =>
    change.mutate(
      { agentWord: agentWord.trim() === '' ? null : agentWord },
      {
        onSuccess: (changed) => draft.reset(wordOf(changed)),
        onError: (error) => draft.refuse(error) || complain(error),
      },
    )
  return (
    <Section
      title={texts.word}
      submit={save}
      footer={
        mayChange && (
          <Button type="submit" disabled={!draft.isChanged} loading={change.isPending}>
            {t.common.save}
          </Button>
        )
      }
    >
      <Textarea
        label={texts.wordLabel}
        description={texts.wordHelp}
        placeholder={mayChange ? texts.wordExample : texts.wordEmpty}
        autosize
        minRows={4}
        maxRows={20}
        maxLength={longestWord}
        value={agentWord}
        onChange={(event) => draft.set({ agentWord: event.currentTarget.value })}
        error={
          draft.errorOf('agentWord') ??
          (agentWord.length >= longestWord ? texts.wordIsFull(number(longestWord)) : undefined)
        }
        disabled={!mayChange}
      />
    </Section>
  )
}

function TakingBack({ workspace }: { workspace: Workspace }) {
  const texts = t.settings.agents
  const change = useWorkspaceChange(workspace, t.settings.saved)
  const set = (isHeld: boolean) =>
    change.mutate(
      { agentsMayTakeBack: isHeld ? 'when_handed' : 'always' },
      { onError: complain, onSettled: () => change.reset() },
    )
  return (
    <Section title={texts.takingBack}>
      <Switch
        label={texts.takingBackSwitch}
        description={texts.takingBackHelp}
        checked={(change.variables?.agentsMayTakeBack ?? workspace.agentsMayTakeBack) === 'when_handed'}
        onChange={(event) => set(event.currentTarget.checked)}
        disabled={change.isPending || !mayIn(workspace.id, 'admin')}
      />
    </Section>
  )
}

const draftOf = ({ agentWatchdogMinutes }: Workspace) => ({
  isOn: agentWatchdogMinutes !== null,
  agentWatchdogMinutes: (agentWatchdogMinutes ?? usualMinutes) as number | string,
})

function Watchdog({ workspace }: { workspace: Workspace }) {
  const texts = t.settings.agents
  const draft = useDraft(draftOf(workspace))
  const { value, set } = draft
  const change = useWorkspaceChange(workspace, t.settings.saved)
  const mayChange = mayIn(workspace.id, 'admin')
  const save = () =>
    change.mutate(
      { agentWatchdogMinutes: value.isOn ? Number(value.agentWatchdogMinutes) : null },
      {
        onSuccess: (changed) => draft.reset(draftOf(changed)),
        onError: (error) => draft.refuse(error) || complain(error),
      },
    )
  return (
    <Section
      title={texts.watchdog}
      submit={save}
      footer={
        mayChange && (
          <Button type="submit" disabled={!draft.isChanged} loading={change.isPending}>
            {t.common.save}
          </Button>
        )
      }
    >
      <Switch
        label={texts.watchdogSwitch}
        description={texts.watchdogHelp}
        checked={value.isOn}
        onChange={(event) => set({ isOn: event.currentTarget.checked })}
        disabled={!mayChange}
      />
      {value.isOn && (
        <NumberInput
          label={texts.minutes}
          w={220}
          min={1}
          max={longestMinutes}
          allowDecimal={false}
          value={value.agentWatchdogMinutes}
          onChange={(agentWatchdogMinutes) => set({ agentWatchdogMinutes })}
          error={draft.errorOf('agentWatchdogMinutes')}
          disabled={!mayChange}
        />
      )}
    </Section>
  )
}
