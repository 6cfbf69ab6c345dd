import { type BulkWish, useBulkActs } from '../../data/bulk-changes.ts'
import { useLabelsById } from '../../data/labels.ts'
import type { People } from '../../data/people.ts'
import { t } from '../../text/index.ts'
import { Confirm } from '../../ui/overlay/Confirm.tsx'
import { complain } from '../../ui/overlay/notices.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import type { Selection } from '../table/use-selection.ts'
import { wishWords } from './bulk-words.ts'

/** Asks before many leads are changed, with their number and what becomes of them. */
export function BulkAsk({ selection, wish, people }: { selection: Selection; wish: BulkWish; people: People }) {
  const workspaceId = useWorkspaceId()
  const { begin } = useBulkActs(workspaceId)
  const labels = useLabelsById(workspaceId)
  const { bulk } = t.leads
  const leads = t.leads.count({ n: selection.count })
  const words = wish.delete ? bulk.askDelete : bulk.ask
  const run = async () => {
    try {
      await begin({ ...whichOf(selection), ...wish })
      selection.clear()
    } catch (error) {
      complain(error)
    }
  }
  return (
    <Confirm
      isGentle={!wish.delete}
      title={words.title({ leads })}
      action={words.action({ leads })}
      run={run}
      close={() => selection.ask(null)}
    >
      <p>
        <strong>{wishWords(wish, people, labels)}</strong>
      </p>
      <p>{wish.delete ? bulk.deleteHelp : bulk.help}</p>
    </Confirm>
  )
}

/** The leads by name, or by what shows them. */
function whichOf({ ids, offered, isEverything }: Selection) {
  if (!isEverything || offered === null) return { ids: [...ids] }
  const { sortBy: _, sortOrder: __, sortLanguage: ___, ...filter } = offered.query
  return { filter }
}
