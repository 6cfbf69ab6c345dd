import { Anchor, Button, NumberInput, Switch, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Workspace } from '../data/workspace.ts'
import { useWorkspaceChange } from '../data/workspace-change.ts'
import { hasRole } from '../session/session.ts'
import { t } from '../text/index.ts'
import { Chip } from '../ui/Chip.tsx'
import { Confirm } from '../ui/overlay/Confirm.tsx'
import { showError } from '../ui/overlay/toasts.tsx'
import { Section } from '../ui/page/Section.tsx'
import { DraftSection, useWorkspaceDraft } from './draft/DraftSection.tsx'
import { MinutesSection } from './draft/MinutesSection.tsx'
import { WorkspaceBoundary } from './parts/WorkspaceBoundary.tsx'

const defaultMinutes = 5

export function AgentsSection() {
  return (
    <WorkspaceBoundary>
      {(workspace) => (
        <>
          <StopSwitch workspace={workspace} />
          <ToInstructions workspace={workspace} />
          <MinutesSection
            workspace={workspace}
            field="agentWatchdogMinutes"
            defaultMinutes={defaultMinutes}
            texts={t.settings.agents.watchdog}
          />
          <TakeBackSwitch workspace={workspace} />
          <LongTexts workspace={workspace} />
          <Text size="sm" c="dimmed">
            {t.settings.agents.keys}{' '}
            <Anchor component={Link} to={`/w/${workspace.id}/keys`} size="sm" underline="always">
              {t.settings.agents.toKeys}
            </Anchor>
          </Text>
        </>
      )}
    </WorkspaceBoundary>
  )
}

function StopSwitch({ workspace }: { workspace: Workspace }) {
  const [isConfirming, setConfirming] = useState(false)
  const texts = t.settings.agents
  const { agentsStopped } = workspace
  const change = useWorkspaceChange(workspace, agentsStopped ? texts.nowStarted : texts.nowStopped)
  const mayChange = hasRole(workspace.id, 'admin')
  const stop = () => change.mutateAsync({ agentsStopped: true }).then(() => setConfirming(false), showError)
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
            onClick={() => change.mutate({ agentsStopped: false }, { onError: showError })}
          >
            {texts.start}
          </Button>
        ) : (
          <Button color="red" variant="light" onClick={() => setConfirming(true)}>
            {texts.stop}
          </Button>
        ))
      }
    >
      <div role="status">
        <Chip tone={agentsStopped ? 'bad' : 'good'}>{agentsStopped ? texts.stopped : texts.running}</Chip>
      </div>
      {isConfirming && (
        <Confirm
          title={texts.stopConfirm}
          action={texts.stop}
          confirmText={texts.stopWord}
          run={stop}
          close={() => setConfirming(false)}
        >
          {texts.stopHelp}
        </Confirm>
      )}
    </Section>
  )
}

/** Instructions have a section of their own, with drafts and versions. */
function ToInstructions({ workspace }: { workspace: Workspace }) {
  const texts = t.settings.agents
  return (
    <Section
      title={texts.instructions}
      help={workspace.agentWord === null ? texts.instructionsEmpty : texts.instructionsPlace}
      action={
        <Button
          variant="default"
          renderRoot={(props) => (
            <Link
              {...props}
              to="/w/$workspaceId/settings/$section"
              params={{ workspaceId: workspace.id, section: 'instructions' }}
            />
          )}
        >
          {texts.toInstructions}
        </Button>
      }
    />
  )
}

const maxParts = 10

/** Into how many messages agents may cut one text, unless their key has a number of its own. */
function LongTexts({ workspace }: { workspace: Workspace }) {
  const texts = t.settings.agents.longTexts
  const draft = useWorkspaceDraft<{ agentMaxParts: number | string }>(
    workspace,
    ({ agentMaxParts }) => ({ agentMaxParts }),
    ({ agentMaxParts }) => ({ agentMaxParts: Number(agentMaxParts) }),
  )
  const { agentMaxParts } = draft.value
  return (
    <DraftSection title={texts.title} draft={draft} isComplete={agentMaxParts !== ''}>
      <NumberInput
        label={texts.label}
        description={texts.help}
        w={320}
        min={1}
        max={maxParts}
        allowDecimal={false}
        value={agentMaxParts}
        onChange={(value) => draft.set({ agentMaxParts: value })}
        error={draft.errorOf('agentMaxParts')}
        disabled={!draft.mayChange}
      />
    </DraftSection>
  )
}

function TakeBackSwitch({ workspace }: { workspace: Workspace }) {
  const texts = t.settings.agents
  const change = useWorkspaceChange(workspace, t.settings.saved)
  const set = (isHeld: boolean) =>
    change.mutate(
      { agentsMayTakeBack: isHeld ? 'when_handed' : 'always' },
      { onError: showError, onSettled: () => change.reset() },
    )
  return (
    <Section title={texts.lockedToPeople}>
      <Switch
        label={texts.lockSwitch}
        description={texts.lockHelp}
        checked={(change.variables?.agentsMayTakeBack ?? workspace.agentsMayTakeBack) === 'when_handed'}
        onChange={(event) => set(event.currentTarget.checked)}
        disabled={change.isPending || !hasRole(workspace.id, 'admin')}
      />
    </Section>
  )
}
