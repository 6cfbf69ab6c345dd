import { type MergeResult, useUndoMerge } from '../../data/merges.ts'
import { t } from '../../text/index.ts'
import { showError, showToast, showUndoToast } from '../../ui/overlay/toasts.tsx'
import { nameOf } from '../fields/lead.ts'

const undoMs = 15_000

/** Undoes a merge and reports the result. */
export function useUndoMergeWithToast(workspaceId: string) {
  const undo = useUndoMerge(workspaceId)
  // The caller, such as a toast, may be unmounted before it completes: callbacks of `mutate` would not run then.
  const run = (mergeId: string, otherName: string) =>
    void undo.mutateAsync(mergeId).then((done) => showToast(undoneText(done, otherName)), showError)
  return { run, isRunning: undo.isPending }
}

/** Reports a merge in a toast with undo. */
export function useMergedToast(workspaceId: string) {
  const { run } = useUndoMergeWithToast(workspaceId)
  return ({ merge, lead }: MergeResult, otherName: string) =>
    showUndoToast(t.merge.done({ other: otherName, kept: nameOf(lead) }), () => run(merge.id, otherName), undoMs)
}

function undoneText({ merge: { left } }: MergeResult, otherName: string): string {
  const back = t.merge.undone({ other: otherName })
  return left.length === 0 ? back : `${back}. ${t.merge.left({ fields: left.map(fieldLabel).join(', ') })}`
}

function fieldLabel(name: string): string {
  if (name === 'other') return t.merge.other
  return (t.leads.fields as Readonly<Record<string, string>>)[name] ?? name.replace(/^customFields\./, '')
}
