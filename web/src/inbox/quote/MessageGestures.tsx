import { type RefObject, Suspense, useEffect } from 'react'
import { useCachedThread } from '../../data/inbox/queries.ts'
import type { Conversation } from '../../data/inbox/types.ts'
import { useUploadLimits } from '../../data/inbox/uploads.ts'
import { withTexts } from '../../text/index.ts'
import { prefetchedComponent } from '../../ui/overlay/lazy.ts'
import { ShortcutsBlocked } from '../../ui/overlay/shortcuts-blocked.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { setQuotedMessage } from './quoted-message.ts'
import { setReactionTarget, useReactionTarget } from './reaction-target.ts'
import { useSwipe } from './swipe.ts'

const ReactionPicker = prefetchedComponent(() => withTexts(() => import('./ReactionPicker.tsx')))

interface MessageGesturesProps {
  conversation: Conversation
  pane: RefObject<HTMLElement | null>
}

/** Message actions of the whole thread, mounted once: each message has only two buttons. */
export default function MessageGestures({ conversation, pane }: MessageGesturesProps) {
  const workspaceId = useWorkspaceId()
  const { id } = conversation
  const limits = useUploadLimits(workspaceId, conversation)
  const [canQuote, canReact] = [limits?.canQuote === true, limits?.canReact === true]
  const thread = useCachedThread(workspaceId, id)
  const picking = useReactionTarget(id)
  useEffect(() => {
    pane.current?.toggleAttribute('data-quotes', canQuote)
    pane.current?.toggleAttribute('data-reacts', canReact)
  }, [pane, canQuote, canReact])
  useEffect(() => () => setReactionTarget(null), [])
  const messageBy = (messageId: string) => thread?.items.find((item) => item.id === messageId)?.message
  useSwipe(pane, canQuote, (messageId) => {
    const message = messageBy(messageId)
    if (message !== undefined) setQuotedMessage(id, message)
  })
  if (picking === null) return null
  // Current version: our reaction may have arrived since the picker was opened.
  const message = messageBy(picking.message.id) ?? picking.message
  return (
    <Suspense fallback={<ShortcutsBlocked />}>
      <ReactionPicker key={message.id} picking={{ ...picking, message }} canQuote={canQuote} />
    </Suspense>
  )
}
