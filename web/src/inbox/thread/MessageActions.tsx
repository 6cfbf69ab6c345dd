import type { Message } from '../../data/inbox/types.ts'

interface MessageActionsProps {
  conversationId: string
  message: Message
}

/** What can be done with a message, beside its bubble: to quote it, to react to it. */
export function MessageActions(_props: MessageActionsProps) {
  return null
}
