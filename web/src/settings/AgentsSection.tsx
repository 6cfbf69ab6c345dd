import { Anchor, Button, Switch, Text, Textarea } from '@mantine/core'
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
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { MinutesSection } from './draft/MinutesSection.tsx'
import { DraftButtons, useWorkspaceDraft } from './draft/WorkspaceDraft.tsx'

const usualMinutes = 5

export function AgentsSection() {
  const workspaceId = useWorkspaceId()
  const query = useWorkspace(workspaceId)
  return (
    <Loaded query={query}>
      {(workspace) => (
        <>
          <StopSwitch workspace={workspace} />
          <AgentWord workspace={workspace} />
          <MinutesSection
            workspace={workspace}
            field="agentWatchdogMinutes"
            usual={usualMinutes}
            texts={t.settings.agents.watchdog}
          />
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

/** What every agent of the workspace is told when it asks who it is. */
function AgentWord({ workspace }: { workspace: Workspace }) {
  const texts = t.settings.agents
  const draft = useWorkspaceDraft(
    workspace,
    (from) => ({ agentWord: from.agentWord ?? '' }),
    (value) => ({ agentWord: value.agentWord.trim() === '' ? null : value.agentWord }),
  )
  const { mayChange } = draft
  const { agentWord } = draft.value
  return (
    <Section title={texts.word} submit={draft.save} footer={mayChange && <DraftButtons draft={draft} />}>
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
          (agentWord.length >= longestWord ? texts.wordIsFull({ most: number(longestWord) }) : undefined)
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
