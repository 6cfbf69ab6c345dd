import { detailKey, threadKey } from '../../data/inbox/cache.ts'
import { useInbox } from '../../data/inbox/queries.ts'
import { runMacro, useMacros } from '../../data/team/automation.ts'
import { t } from '../../text/index.ts'
import type { Dropdown } from '../../ui/overlay/dropdown.tsx'
import { Picker } from '../../ui/overlay/Picker.tsx'
import { showError, showToast } from '../../ui/overlay/toasts.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'

/** Macros to run on the open conversation. */
export default function MacroPicker({ dropdown, conversationId }: { dropdown: Dropdown; conversationId: string }) {
  const workspaceId = useWorkspaceId()
  const { queries } = useInbox()
  const { data: macros = [] } = useMacros(workspaceId)
  const { actions } = t.inbox
  const run = async (macroId: string, name: string) => {
    try {
      const problem = await runMacro(workspaceId, conversationId, macroId)
      showToast(problem === null ? actions.macroDone({ name }) : actions.macroStopped({ name, why: problem.message }))
    } catch (error) {
      showError(error)
    }
    for (const key of [detailKey, threadKey]) {
      void queries.invalidateQueries({ queryKey: key(workspaceId, conversationId), exact: true })
    }
  }
  return (
    <Picker
      dropdown={dropdown}
      label={actions.macro}
      placeholder={actions.macroSearch}
      none={actions.noMacros}
      items={macros.map(({ id, name }) => ({ id, label: name }))}
      choose={({ id, label }) => void run(id, label)}
    />
  )
}
