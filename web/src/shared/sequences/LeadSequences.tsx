import { Button, Menu } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import {
  type SequenceRun,
  useSequenceActions,
  useSequences,
  useSequencesOfLead,
} from '../../data/outreach/sequences.ts'
import { t } from '../../text/index.ts'
import { formatDateTime } from '../../ui/format/time.ts'
import { showError, showToast } from '../../ui/overlay/toasts.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from './LeadSequences.module.css'
import { runText } from './run-texts.ts'

/** Ended runs that are shown below the active ones. */
const endedShown = 3

interface LeadSequencesProps {
  leadId: string
  /** Draws the heading around the list; nothing is drawn in a workspace without sequences. */
  section(content: ReactNode): ReactNode
}

/** In which sequences a lead is, with buttons to stop and to add. */
export function LeadSequences({ leadId, section }: LeadSequencesProps) {
  const workspaceId = useWorkspaceId()
  const texts = t.sequences
  const runs = useSequencesOfLead(workspaceId, leadId).data ?? []
  const isOn = (useSequences(workspaceId).data ?? []).filter(({ enabled }) => enabled)
  const { start, stop } = useSequenceActions(workspaceId)
  const [isBusy, setBusy] = useState(false)
  const active = runs.filter(({ state }) => state === 'active')
  const ended = runs.filter(({ state }) => state === 'ended').slice(0, endedShown)
  const free = isOn.filter(({ id }) => !active.some(({ sequence }) => sequence.id === id))
  if (runs.length === 0 && free.length === 0) return null
  const run = (work: Promise<unknown>) => {
    setBusy(true)
    void work.catch(showError).finally(() => setBusy(false))
  }
  const add = async (id: string, name: string) => {
    const { refused } = await start(id, [leadId])
    showToast(refused.length > 0 ? texts.refused : texts.added({ name }))
  }
  return section(
    <>
      {runs.length > 0 && (
        <ul className={styles.list} aria-label={texts.title}>
          {[...active, ...ended].map((one) => (
            <RunRow key={one.id} run={one} isBusy={isBusy} stop={() => run(stop(one.id))} />
          ))}
        </ul>
      )}
      {free.length > 0 && (
        <Menu position="bottom-start">
          <Menu.Target>
            <Button
              variant="subtle"
              color="gray"
              size="compact-sm"
              mt={4}
              loading={isBusy}
              leftSection={<IconPlus size={14} />}
            >
              {texts.add}
            </Button>
          </Menu.Target>
          <Menu.Dropdown className={styles.choices}>
            {free.map(({ id, name }) => (
              <Menu.Item key={id} onClick={() => run(add(id, name))}>
                {name}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
    </>,
  )
}

function RunRow({ run, isBusy, stop }: { run: SequenceRun; isBusy: boolean; stop(): void }) {
  const { sequence, state, createdAt } = run
  return (
    <li className={styles.row} data-ended={state === 'ended' || undefined}>
      <span className={styles.what}>
        <strong>{sequence.name}</strong>
        <span title={t.sequences.since({ at: formatDateTime(createdAt) })}>{runText(run)}</span>
      </span>
      {state === 'active' && (
        <Button
          variant="default"
          size="compact-sm"
          disabled={isBusy}
          onClick={stop}
          aria-label={t.sequences.stopOf({ name: sequence.name })}
        >
          {t.sequences.stop}
        </Button>
      )}
    </li>
  )
}
