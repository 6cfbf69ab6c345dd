import { Button, Group, Select, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { handBack, offerToAgents } from '../../data/inbox/actions.ts'
import type { HandoverNote } from '../../data/inbox/calls.ts'
import { useInbox } from '../../data/inbox/queries.ts'
import type { Conversation } from '../../data/inbox/types.ts'
import { useApiKeys } from '../../data/keys.ts'
import { t } from '../../text/index.ts'
import { Dialog } from '../../ui/overlay/Dialog.tsx'
import { ErrorState } from '../../ui/page/ErrorState.tsx'
import { PanelButtons } from '../../ui/page/PanelButtons.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { type AgentKey, agentsFor } from './agents-for.ts'

interface HandBackDialogProps {
  conversation: Conversation
  isStopped: boolean
  close(): void
}

/** Chooses the agent to hand over to, with an optional note. */
export default function HandBackDialog({ conversation, isStopped, close }: HandBackDialogProps) {
  const workspaceId = useWorkspaceId()
  const texts = t.compose.owner
  return (
    <Dialog close={close} title={isStopped ? texts.stopped : texts.handBackTitle}>
      {isStopped ? (
        <Stack gap="md" align="flex-start">
          <Text size="md">{texts.stoppedHelp}</Text>
          <Button variant="default" component={Link} to={`/w/${workspaceId}/settings/agents`}>
            {t.compose.obstacles.openSettings}
          </Button>
        </Stack>
      ) : (
        <AgentChoice conversation={conversation} close={close} />
      )}
    </Dialog>
  )
}

/** The form is shown before the agents have loaded, so that typing can start at once. */
function AgentChoice({ conversation, close }: Omit<HandBackDialogProps, 'isStopped'>) {
  const workspaceId = useWorkspaceId()
  const { data, error, refetch } = useApiKeys(workspaceId)
  if (data === undefined && error !== null) return <ErrorState error={error} retry={() => void refetch()} />
  const agents = data === undefined ? null : agentsFor(data, conversation.connectionId, Date.now())
  const whenLoaded = async () => {
    const { data: keys = [] } = await refetch()
    return agentsFor(keys, conversation.connectionId, Date.now())
  }
  if (agents?.length !== 0) return <HandBackForm {...{ conversation, agents, whenLoaded, close }} />
  return (
    <Stack gap="md" align="flex-start">
      <Text size="md">{t.compose.owner.noAgentsHelp}</Text>
      <Button variant="default" component={Link} to={`/w/${workspaceId}/keys`} data-autofocus>
        {t.common.pages.keys}
      </Button>
    </Stack>
  )
}

interface HandBackFormProps {
  conversation: Conversation
  /** Null until loaded. */
  agents: readonly AgentKey[] | null
  /** Resolves when the agents have loaded. */
  whenLoaded(): Promise<readonly AgentKey[]>
  close(): void
}

/** Used instead of the id of a key: any agent may take it. */
const anyAgent = 'any'

function HandBackForm({ conversation, agents, whenLoaded, close }: HandBackFormProps) {
  const texts = t.compose.owner
  const inbox = useInbox()
  const [chosen, setChosen] = useState<string | null>(null)
  const keyId = chosen ?? agents?.[0]?.id ?? null
  const [summary, setSummary] = useState('')
  const [nextStep, setNextStep] = useState('')
  const [isRunning, setRunning] = useState(false)
  const handOver = async (agent: AgentKey | undefined): Promise<boolean> => {
    const note = noteOf(summary.trim(), nextStep.trim())
    if (agent !== undefined) {
      return handBack(inbox, conversation.id, { keyId: agent.id, name: agent.name, ...note })
    }
    return keyId === anyAgent && offerToAgents(inbox, conversation.id, note)
  }
  const submit = async () => {
    if (isRunning) return
    setRunning(true)
    // Enter may be pressed before the agents have loaded.
    const known = agents ?? (await whenLoaded())
    const isDone = await handOver(known.find(({ id }) => id === keyId) ?? (keyId === null ? known[0] : undefined))
    setRunning(false)
    // If refused, the note stays in the field.
    if (isDone) close()
  }
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <Stack gap="md">
        <Select
          label={texts.agentField}
          data={[
            ...(agents ?? []).map(({ id, name }) => ({ value: id, label: name })),
            { value: anyAgent, label: texts.anyAgent },
          ]}
          description={keyId === anyAgent ? texts.offerHelp : null}
          value={keyId}
          onChange={setChosen}
          allowDeselect={false}
          disabled={agents === null}
          placeholder={agents === null ? t.common.loading : undefined}
        />
        <Textarea
          label={texts.summary}
          description={texts.summaryHelp}
          value={summary}
          onChange={(event) => setSummary(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
            event.preventDefault()
            void submit()
          }}
          maxLength={1200}
          rows={3}
          data-autofocus
        />
        <TextInput
          label={texts.nextStep}
          value={nextStep}
          onChange={(event) => setNextStep(event.currentTarget.value)}
          maxLength={1200}
        />
        <Group justify="flex-end" gap="xs">
          <PanelButtons
            close={close}
            action={keyId === anyAgent ? texts.offer : texts.handBack}
            isBusy={isRunning}
            disabled={agents === null}
          />
        </Group>
      </Stack>
    </form>
  )
}

// A next step without a summary becomes the summary.
function noteOf(summary: string, nextStep: string): { note?: HandoverNote } {
  if (summary === '' && nextStep === '') return {}
  return { note: summary === '' ? { summary: nextStep } : { summary, ...(nextStep === '' ? {} : { nextStep }) } }
}
