import { Button, Group, Select, Stack, Textarea, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { runsKey, type Scenario, type StartedRun, startRun } from '../data/team/scenarios.ts'
import { t } from '../text/index.ts'
import { Copyable } from '../ui/Copyable.tsx'
import { Dialog } from '../ui/overlay/Dialog.tsx'
import { showError } from '../ui/overlay/toasts.tsx'
import { PanelButtons } from '../ui/page/PanelButtons.tsx'
import { SidePanel } from '../ui/page/SidePanel.tsx'
import { useDraft } from '../ui/use-draft.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './Scenarios.module.css'

interface RunPanelProps {
  scenarios: readonly Scenario[]
  /** Instructions that the run begins with: a draft, or none. */
  instructions: string
  publicUrl: string
  close(): void
}

const speeds = ['1', '5', '20'] as const

/** Starts a run, then shows the keys of its sandboxes, once. */
export function RunPanel({ scenarios, instructions: draft, publicUrl, close }: RunPanelProps) {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  const [started, setStarted] = useState<StartedRun | null>(null)
  const { value, set, errorOf, applyError } = useDraft({ agent: '', instructions: draft, webhookUrl: '', speed: '1' })
  const texts = t.scenarios
  const start = useMutation({
    mutationFn: () => {
      const { agent, instructions, webhookUrl, speed } = value
      return startRun(workspaceId, {
        scenarioIds: scenarios.map(({ id }) => id),
        agent,
        speed: Number(speed),
        ...(instructions.trim() !== '' && { instructions }),
        ...(webhookUrl.trim() !== '' && { webhookUrl: webhookUrl.trim() }),
      })
    },
    onSuccess: (run) => {
      void queries.invalidateQueries({ queryKey: runsKey(workspaceId) })
      setStarted(run)
    },
    onError: (error) => applyError(error) || showError(error),
  })
  if (started !== null) return <Keys started={started} publicUrl={publicUrl} />
  return (
    <SidePanel
      title={texts.run({ n: scenarios.length })}
      close={close}
      submit={() => start.mutate()}
      footer={<PanelButtons close={close} action={texts.start} isBusy={start.isPending} />}
    >
      <p className={styles.muted}>{texts.runHelp}</p>
      <TextInput
        label={texts.agent}
        description={texts.agentHelp}
        value={value.agent}
        onChange={(event) => set({ agent: event.currentTarget.value })}
        error={errorOf('agent')}
        data-autofocus
      />
      <Textarea
        label={texts.instructions}
        description={texts.instructionsHelp}
        value={value.instructions}
        onChange={(event) => set({ instructions: event.currentTarget.value })}
        error={errorOf('instructions')}
        autosize
        minRows={3}
        maxRows={10}
      />
      <TextInput
        label={texts.webhook}
        description={texts.webhookHelp}
        value={value.webhookUrl}
        onChange={(event) => set({ webhookUrl: event.currentTarget.value })}
        error={errorOf('webhookUrl')}
      />
      <Select
        label={texts.pauses}
        data={speeds.map((speed) => ({ value: speed, label: texts.speeds[speed] }))}
        value={value.speed}
        onChange={(speed) => set({ speed: speed ?? '1' })}
        allowDeselect={false}
      />
    </SidePanel>
  )
}

/** Only its button closes it: the keys cannot be shown again. */
function Keys({ started, publicUrl }: { started: StartedRun; publicUrl: string }) {
  const workspaceId = useWorkspaceId()
  const navigate = useNavigate()
  const texts = t.scenarios
  const close = () =>
    void navigate({ to: '/w/$workspaceId/scenarios/$runId', params: { workspaceId, runId: started.runId } })
  return (
    <Dialog
      close={close}
      title={texts.keysTitle}
      size={640}
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Stack gap="md">
        <p className={styles.muted}>{texts.keysHelp({ n: started.agents.length })}</p>
        {started.agents.map(({ key, webhookSecret, scenarios }) => (
          <Stack key={key} gap={4}>
            <Copyable
              value={`PARLEY_URL=${publicUrl} PARLEY_API_KEY=${key} node agent.js`}
              label={texts.keyFor({ n: scenarios.length })}
            />
            <p className={styles.muted}>{texts.keyFor({ n: scenarios.length })}</p>
            {webhookSecret !== null && <Copyable value={webhookSecret} label={texts.webhookSecret} />}
          </Stack>
        ))}
        <Group justify="flex-end">
          <Button onClick={close} data-autofocus>
            {texts.toRun}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
