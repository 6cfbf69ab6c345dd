import { useQueryClient } from '@tanstack/react-query'
import { type CustomerName, erase, useErasurePreview } from '../data/erasures.ts'
import { everythingKey } from '../data/workspace.ts'
import { t } from '../text/index.ts'
import { Confirm } from '../ui/overlay/Confirm.tsx'
import { complain, say } from '../ui/overlay/notices.tsx'
import { ErrorNotice } from '../ui/page/ErrorNotice.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'

interface EraseAskProps {
  name: CustomerName
  close(): void
  done?: () => void
}

const shownKinds = ['leads', 'conversations', 'messages', 'files', 'notes', 'events', 'importFiles'] as const
type Counts = Record<(typeof shownKinds)[number], number>

/** Shows what there is, and has a word typed before it goes. */
export default function EraseAsk({ name, close, done }: EraseAskProps) {
  const workspaceId = useWorkspaceId()
  const texts = t.erasure
  const queries = useQueryClient()
  const found = useErasurePreview(workspaceId, name)
  const run = async () => {
    try {
      const erased = await erase(workspaceId, name)
      close()
      done?.()
      if (erased?.state === 'done') say(`${texts.done}: ${wordsOf(erased.removed).join(', ')}`)
      else say(texts.goesOn)
      await queries.invalidateQueries({ queryKey: everythingKey(workspaceId) })
    } catch (error) {
      complain(error)
    }
  }
  return (
    <Confirm title={texts.title} action={texts.action} word={texts.word} run={run} close={close}>
      {texts.help}
      <Found query={found} />
    </Confirm>
  )
}

interface FoundProps {
  query: { data: Counts | null | undefined; isError: boolean; error: unknown; refetch(): unknown }
}

function Found({ query: { data, isError, error, refetch } }: FoundProps) {
  const texts = t.erasure
  if (isError) return <ErrorNotice error={error} retry={() => void refetch()} />
  if (data === undefined) return <span role="status"> {texts.looking}</span>
  const words = data === null ? [] : wordsOf(data)
  return <span role="status"> {words.length === 0 ? texts.nothing : `${texts.found} ${words.join(', ')}.`}</span>
}

const wordsOf = (counts: Counts): string[] =>
  shownKinds.flatMap((kind) => (counts[kind] > 0 ? t.erasure.kinds[kind]({ n: counts[kind] }) : []))
