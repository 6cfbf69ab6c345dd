import { type MergeDone, useUndoMerge } from '../../data/merges.ts'
import { t } from '../../text/index.ts'
import { complain, say, sayWithUndo } from '../../ui/overlay/notices.tsx'
import { nameOf } from '../fields/lead.ts'

const undoMs = 15_000

/** Undoes a merge and says what came of it. */
export function useSayUndone(workspaceId: string) {
  const undo = useUndoMerge(workspaceId)
  // Whoever began it, as a note that undoes, may be gone when it ends: `mutate` would say nothing then.
  const run = (mergeId: string, otherName: string) =>
    void undo.mutateAsync(mergeId).then((done) => say(undoneWords(done, otherName)), complain)
  return { run, isRunning: undo.isPending }
}

/** Says that two leads were merged, with an undo beside it. */
export function useSayMerged(workspaceId: string) {
  const { run } = useSayUndone(workspaceId)
  return ({ merge, lead }: MergeDone, otherName: string) =>
    sayWithUndo(t.merge.done({ other: otherName, kept: nameOf(lead) }), () => run(merge.id, otherName), undoMs)
}

function undoneWords({ merge: { left } }: MergeDone, otherName: string): string {
  const back = t.merge.undone({ other: otherName })
  return left.length === 0 ? back : `${back}. ${t.merge.left({ fields: left.map(fieldWord).join(', ') })}`
}

function fieldWord(name: string): string {
  if (name === 'other') return t.merge.other
  return (t.leads.fields as Readonly<Record<string, string>>)[name] ?? name.replace(/^customFields\./, '')
}
