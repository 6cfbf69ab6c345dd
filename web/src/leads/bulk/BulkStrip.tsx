import { ActionIcon, Button, Progress } from '@mantine/core'
import { IconX } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import {
  type BulkChange,
  useBulkActs,
  useBulkChanges,
  useBulkNews,
  useOwnBulkChanges,
} from '../../data/bulk-changes.ts'
import { useLabelsById } from '../../data/labels.ts'
import { leadsOf } from '../../data/leads.ts'
import type { People } from '../../data/people.ts'
import { t } from '../../text/index.ts'
import { fullMoment } from '../../ui/format/time.ts'
import { complain } from '../../ui/overlay/notices.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from './bulk.module.css'
import { isMoving, percentOf, standing, wishWords } from './bulk-words.ts'

/** The bulk changes under way, whoever began them, and what came of those that were begun here, each with its undo. */
export default function BulkStrip({ people }: { people: People }) {
  const workspaceId = useWorkspaceId()
  useBulkNews(workspaceId)
  const { data: all = [] } = useBulkChanges(workspaceId)
  const mine = useOwnBulkChanges(workspaceId)
  const shown = all.filter((one) => isMoving(one) || mine.includes(one.id))
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
  const { putAway } = useBulkActs(workspaceId)
  const labels = useLabelsById(workspaceId)
  useListsAnewAtEnd(workspaceId, one)
  return (
    <div className={styles.line}>
      <span role="status" className={styles.words}>
        <strong>{wishWords(one, people, labels)}</strong> {standing(one)}
      </span>
      {isMoving(one) && (
        <Progress className={styles.progress} value={percentOf(one)} animated aria-label={t.leads.bulk.progress} />
      )}
      <BulkButtons one={one} />
      {!isMoving(one) && (
        <ActionIcon variant="subtle" color="gray" aria-label={t.common.close} onClick={() => putAway(one.id)}>
          <IconX size={16} />
        </ActionIcon>
      )}
    </div>
  )
}

/** Stops it while it runs; undoes it for a day. */
export function BulkButtons({ one }: { one: BulkChange }) {
  const workspaceId = useWorkspaceId()
  const acts = useBulkActs(workspaceId)
  const undo = useMutation({ mutationFn: () => acts.undo(one.id), onError: complain })
  const cancel = useMutation({ mutationFn: () => acts.cancel(one.id), onError: complain })
  if (one.state === 'running' || one.state === 'collecting') {
    return (
      <Button variant="default" size="compact-sm" loading={cancel.isPending} onClick={() => cancel.mutate()}>
        {t.common.cancel}
      </Button>
    )
  }
  if (one.undoUntil === null || one.changed === 0) return null
  return (
    <Button
      variant="default"
      size="compact-sm"
      loading={undo.isPending}
      title={t.leads.bulk.undoUntil({ when: fullMoment(one.undoUntil) })}
      onClick={() => undo.mutate()}
    >
      {t.common.undo}
    </Button>
  )
}

// The events of many leads come one by one; at the end the lists are read whole.
function useListsAnewAtEnd(workspaceId: string, one: BulkChange): void {
  const queries = useQueryClient()
  const moves = isMoving(one)
  const moved = useRef(moves)
  useEffect(() => {
    if (moved.current && !moves) void queries.invalidateQueries({ queryKey: leadsOf(workspaceId) })
    moved.current = moves
  }, [moves, queries, workspaceId])
}
