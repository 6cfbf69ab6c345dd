import { useQueryClient } from '@tanstack/react-query'
import { type CustomerName, erase, useErasurePreview } from '../data/erasures.ts'
import { everythingKey } from '../data/workspace.ts'
import { t } from '../text/index.ts'
import { Confirm } from '../ui/overlay/Confirm.tsx'
import { showError, showToast } from '../ui/overlay/toasts.tsx'
import { ErrorState } from '../ui/page/ErrorState.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'

interface EraseDialogProps {
  name: CustomerName
  close(): void
  onDone?: () => void
}

const listedKinds = ['leads', 'conversations', 'messages', 'files', 'notes', 'events', 'importFiles'] as const
type Counts = Record<(typeof listedKinds)[number], number>

/** Shows what will be erased, and requires typing a word to confirm. */
export default function EraseDialog({ name, close, onDone }: EraseDialogProps) {
  const workspaceId = useWorkspaceId()
  const texts = t.erasure
  const queries = useQueryClient()
  const found = useErasurePreview(workspaceId, name)
  const run = async () => {
    try {
      const erased = await erase(workspaceId, name)
      close()
      onDone?.()
      if (erased?.state === 'done') showToast(`${texts.done}: ${countsText(erased.removed).join(', ')}`)
      else showToast(texts.continues)
      await queries.invalidateQueries({ queryKey: everythingKey(workspaceId) })
    } catch (error) {
      showError(error)
    }
  }
  return (
    <Confirm title={texts.title} action={texts.action} confirmText={texts.word} run={run} close={close}>
      {texts.help}
      <ErasurePreview query={found} />
    </Confirm>
  )
}

function ErasurePreview({ query }: { query: ReturnType<typeof useErasurePreview> }) {
  const { data, error } = query
  const texts = t.erasure
  if (error !== null) return <ErrorState error={error} retry={() => void query.refetch()} />
  if (data === undefined) return <span role="status"> {texts.loading}</span>
  const words = data === null ? [] : countsText(data)
  return <span role="status"> {words.length === 0 ? texts.nothing : `${texts.found} ${words.join(', ')}.`}</span>
}

const countsText = (counts: Counts): string[] =>
  listedKinds.flatMap((kind) => (counts[kind] > 0 ? t.erasure.kinds[kind]({ n: counts[kind] }) : []))
