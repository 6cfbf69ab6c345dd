import { useRef, useState } from 'react'
import { changeConversations, type DoneToMany, undoConversations } from '../../data/inbox/bulk.ts'
import { useInbox } from '../../data/inbox/queries.ts'
import type { ManyChanges } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { number } from '../../ui/format/time.ts'
import { complain, say, sayWithUndo } from '../../ui/overlay/notices.tsx'
import { clearChosen, selectionNow } from '../parts/selection.ts'

/** What goes on: how many of how many are done. */
export interface Progress {
  done: number
  of: number
}

const undoMs = 20_000

/** Changes what is chosen, one change after the other, shows how far it is, and offers the undo. */
export function useBulk(): { progress: Progress | null; run(changes: ManyChanges, keeps?: boolean): void } {
  const inbox = useInbox()
  const [progress, setProgress] = useState<Progress | null>(null)
  const queue = useRef(Promise.resolve())
  const work = async (ids: readonly string[], changes: ManyChanges, keeps: boolean) => {
    const done = await changeConversations(inbox, ids, changes, (done) => setProgress({ done, of: ids.length }))
    setProgress(null)
    tell(done, ids.length, () => void undo(done).catch(complain))
    // Of what failed the rest is still to be done.
    if (done.error === null && !keeps) clearChosen()
  }
  const undo = async (done: DoneToMany) => {
    const left = await undoConversations(inbox, done)
    const back = done.former.length - left
    const texts = t.triage.bulk
    say([texts.undone({ n: back }), ...(left > 0 ? [texts.left({ n: left })] : [])].join('. '))
  }
  const run = (changes: ManyChanges, keeps = false) => {
    const { ids } = selectionNow()
    if (ids.length > 0) queue.current = queue.current.then(() => work(ids, changes, keeps))
  }
  return { progress, run }
}

function tell({ former, done, error }: DoneToMany, asked: number, undo: () => void): void {
  const texts = t.triage.bulk
  const changed = former.length
  const words =
    error === null ? texts.changed({ n: changed }) : texts.broken({ shown: number(done), of: number(asked) })
  if (error !== null && done === 0) complain(error)
  else if (changed === 0) say(error === null ? texts.none : words)
  else sayWithUndo(words, undo, undoMs)
}
