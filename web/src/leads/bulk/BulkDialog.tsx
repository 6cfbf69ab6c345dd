import { type BulkChangeInput, useBulkChangeActions } from '../../data/bulk-changes.ts'
import { useLabelsById } from '../../data/labels.ts'
import type { People } from '../../data/people.ts'
import { t } from '../../text/index.ts'
import { Confirm } from '../../ui/overlay/Confirm.tsx'
import { showError } from '../../ui/overlay/toasts.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import type { Selection } from '../table/use-selection.ts'
import { changeText } from './bulk-texts.ts'

/** Confirms a bulk change, with the number of leads and the changes. */
export function BulkDialog({
  selection,
  input,
  people,
}: {
  selection: Selection
  input: BulkChangeInput
  people: People
}) {
  const workspaceId = useWorkspaceId()
  const { submit } = useBulkChangeActions(workspaceId)
  const labels = useLabelsById(workspaceId)
  const { bulk } = t.leads
  const leads = t.leads.count({ n: selection.count })
  const words = input.delete ? bulk.confirmDelete : bulk.confirm
  const run = async () => {
    try {
      await submit({ ...whichOf(selection), ...input })
      selection.clear()
    } catch (error) {
      showError(error)
    }
  }
  return (
    <Confirm
      isReversible={!input.delete}
      title={words.title({ leads })}
      action={words.action({ leads })}
      run={run}
      close={() => selection.confirmChange(null)}
    >
      <p>
        <strong>{changeText(input, people, labels)}</strong>
      </p>
      <p>{input.delete ? bulk.deleteHelp : bulk.help}</p>
    </Confirm>
  )
}

/** Returns the leads by id, or by the query that selects them. */
function whichOf({ ids, allMatching, isAllMatching }: Selection) {
  if (!isAllMatching || allMatching === null) return { ids: [...ids] }
  const { sortBy: _, sortOrder: __, sortLanguage: ___, ...filter } = allMatching.query
  return { filter }
}
