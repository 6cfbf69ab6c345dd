import { ActionIcon, Button, Progress } from '@mantine/core'
import { IconX } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import {
  type BulkChange,
  useBulkChangeActions,
  useBulkChanges,
  useLiveBulkChanges,
  useOwnBulkChanges,
} from '../../data/bulk-changes.ts'
import { useLabelsById } from '../../data/labels.ts'
import { leadsKey } from '../../data/leads.ts'
import type { People } from '../../data/people.ts'
import { t } from '../../text/index.ts'
import { formatDateTime } from '../../ui/format/time.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from './bulk.module.css'
import { bulkStatusText, changeText, isInProgress, percentOf } from './bulk-texts.ts'

/** Running bulk changes of everyone, and results of those started here, with undo. */
export default function BulkStrip({ people }: { people: People }) {
  const workspaceId = useWorkspaceId()
  useLiveBulkChanges(workspaceId)
  const { data: all = [] } = useBulkChanges(workspaceId)
  const mine = useOwnBulkChanges(workspaceId)
  const shown = all.filter((one) => isInProgress(one) || mine.includes(one.id))
  if (shown.length === 0) return null
  return (
    <section className={styles.strip} aria-label={t.leads.bulk.title}>
      {shown.map((one) => (
        <Line key={one.id} one={one} people={people} />
      ))}
    </section>
  )
}

function Line({ one, people }: { one: BulkChange; people: People }) {
  const workspaceId = useWorkspaceId()
  const { dismiss } = useBulkChangeActions(workspaceId)
  const labels = useLabelsById(workspaceId)
  useRefetchListsAtEnd(workspaceId, one)
  return (
    <div className={styles.line}>
      <span role="status" className={styles.text}>
        <strong>{changeText(one, people, labels)}</strong> {bulkStatusText(one)}
      </span>
      {isInProgress(one) && (
        <Progress className={styles.progress} value={percentOf(one)} animated aria-label={t.leads.bulk.progress} />
      )}
      <BulkButtons one={one} />
      {!isInProgress(one) && (
        <ActionIcon variant="subtle" color="gray" aria-label={t.common.close} onClick={() => dismiss(one.id)}>
          <IconX size={16} />
        </ActionIcon>
      )}
    </div>
  )
}

/** Cancels a running change; undoes it for 24 hours. */
export function BulkButtons({ one }: { one: BulkChange }) {
  const workspaceId = useWorkspaceId()
  const actions = useBulkChangeActions(workspaceId)
  const isRunning = one.state === 'running' || one.state === 'collecting'
  const act = useMutation({
    mutationFn: (what: 'cancel' | 'undo') => actions[what](one.id),
    onError: showError,
  })
  if (!isRunning && (one.undoUntil === null || one.changed === 0)) return null
  return (
    <Button
      variant="default"
      size="compact-sm"
      loading={act.isPending}
      title={isRunning ? undefined : t.leads.bulk.undoUntil({ when: formatDateTime(one.undoUntil ?? '') })}
      onClick={() => act.mutate(isRunning ? 'cancel' : 'undo')}
    >
      {isRunning ? t.common.cancel : t.common.undo}
    </Button>
  )
}

// Events of many leads arrive one by one; refetches whole lists at the end.
function useRefetchListsAtEnd(workspaceId: string, one: BulkChange): void {
  const queries = useQueryClient()
  const moves = isInProgress(one)
  const moved = useRef(moves)
  useEffect(() => {
    if (moved.current && !moves) void queries.invalidateQueries({ queryKey: leadsKey(workspaceId) })
    moved.current = moves
  }, [moves, queries, workspaceId])
}
