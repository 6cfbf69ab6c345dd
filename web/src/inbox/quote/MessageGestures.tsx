import { type RefObject, Suspense, useEffect, useRef } from 'react'
import { useCachedThread } from '../../data/inbox/queries.ts'
import type { Conversation } from '../../data/inbox/types.ts'
import { useUploadLimits } from '../../data/inbox/uploads.ts'
import { withTexts } from '../../text/index.ts'
import { prefetchedComponent } from '../../ui/overlay/lazy.ts'
import { ShortcutsBlocked } from '../../ui/overlay/shortcuts-blocked.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { setQuotedMessage } from './quoted-message.ts'
import { setReactionTarget, useReactionTarget } from './reaction-target.ts'

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

/** Distance that starts a swipe, maximum movement of the bubble, and distance that triggers the action. */
const [beginPx, maxPx, triggerPx] = [12, 76, 56]

/** Calls back with the id of a message that was swiped aside. */
function useSwipe(pane: RefObject<HTMLElement | null>, isOn: boolean, swiped: (messageId: string) => void): void {
  const latest = useRef(swiped)
  latest.current = swiped
  useEffect(() => {
    const target = pane.current
    if (target === null || !isOn) return
    const ending = new AbortController()
    let swipe: { pointer: number; x: number; y: number; row: HTMLElement; by: number } | null = null
    const release = () => {
      if (swipe !== null) swipe.row.style.transform = ''
      swipe = null
    }
    const on = (
      type: 'pointerdown' | 'pointermove' | 'pointercancel' | 'pointerup',
      act: (event: PointerEvent) => void,
    ) => target.addEventListener(type, act, { signal: ending.signal })
    on('pointerdown', ({ pointerType, pointerId: pointer, clientX: x, clientY: y, target: at }) => {
      const row = at instanceof Element ? at.closest<HTMLElement>(':has(> [data-message-id])') : null
      if (pointerType === 'touch' && row !== null) swipe = { pointer, x, y, row, by: 0 }
    })
    on('pointermove', ({ pointerId, clientX, clientY }) => {
      if (swipe === null || swipe.pointer !== pointerId) return
      const [right, down] = [clientX - swipe.x, Math.abs(clientY - swipe.y)]
      // A vertical movement first is scrolling.
      if (swipe.by === 0 && (down > right || right < beginPx)) return
      swipe.by = Math.max(1, Math.min(maxPx, right))
      swipe.row.style.transform = `translateX(${swipe.by}px)`
    })
    on('pointercancel', release)
    on('pointerup', () => {
      const id = swipe?.row.querySelector<HTMLElement>(':scope > [data-message-id]')?.dataset.messageId
      const isEnough = (swipe?.by ?? 0) >= triggerPx
      release()
      if (isEnough && id !== undefined) latest.current(id)
    })
    return () => {
      release()
      ending.abort()
    }
  }, [pane, isOn])
}
