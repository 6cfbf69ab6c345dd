import { useRef, useState } from 'react'
import { type BulkResult, changeConversations, undoConversations } from '../../data/inbox/bulk.ts'
import { useInbox } from '../../data/inbox/queries.ts'
import type { BulkChanges } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { formatNumber } from '../../ui/format/time.ts'
import { showError, showToast, showUndoToast } from '../../ui/overlay/toasts.tsx'
import { clearSelection, currentSelection } from '../parts/selection.ts'

/** Progress of a running change. */
export interface Progress {
  done: number
  of: number
}

const undoMs = 20_000

/** Changes the selected conversations one change at a time, with progress and undo. */
export function useBulk(): { progress: Progress | null; run(changes: BulkChanges, keepsSelection?: boolean): void } {
  const inbox = useInbox()
  const [progress, setProgress] = useState<Progress | null>(null)
  const queue = useRef(Promise.resolve())
  const work = async (ids: readonly string[], changes: BulkChanges, keepsSelection: boolean) => {
    const done = await changeConversations(inbox, ids, changes, (done) => setProgress({ done, of: ids.length }))
    setProgress(null)
    reportResult(done, ids.length, () => void undo(done).catch(showError))
    // After an error, the selection is kept to continue.
    if (done.error === null && !keepsSelection) clearSelection()
  }
  const undo = async (done: BulkResult) => {
    const left = await undoConversations(inbox, done)
    const back = done.former.length - left
    const texts = t.triage.bulk
    showToast([texts.undone({ n: back }), ...(left > 0 ? [texts.left({ n: left })] : [])].join('. '))
  }
  const run = (changes: BulkChanges, keepsSelection = false) => {
    const { ids } = currentSelection()
    if (ids.length > 0) queue.current = queue.current.then(() => work(ids, changes, keepsSelection))
  }
  return { progress, run }
}

function reportResult({ former, done, error }: BulkResult, selectedCount: number, undo: () => void): void {
  const texts = t.triage.bulk
  const changed = former.length
  const words =
    error === null
      ? texts.changed({ n: changed })
      : texts.interrupted({ shown: formatNumber(done), of: formatNumber(selectedCount) })
  if (error !== null && done === 0) showError(error)
  else if (changed === 0) showToast(error === null ? texts.none : words)
  else showUndoToast(words, undo, undoMs)
}
