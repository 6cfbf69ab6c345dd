import type { Conversation } from '../inbox/conversation/conversation.ts'
import { windowIsOpen } from '../inbox/conversation/conversation-state.ts'
import { keyIdOf } from '../inbox/conversation/owner.ts'

/** What an agent can do now, by rules: nothing that a customer wrote is in it. */

export const waitForWork = 'Call wait_for_work for the next customer.'
const leaveIt = 'Leave it to them and send nothing: you will be told when it is yours again.'

type Known = Pick<Conversation, 'owner' | 'held' | 'windowExpiresAt' | 'unansweredSince' | 'channel'>

/** After looking at a conversation. */
export function nextWith(conversation: Known, keyId: string, mayWrite: boolean, now: Date): string[] {
  if (!mayWrite) return ['You may read only: your key lacks inbox.write.']
  const owner = keyIdOf(conversation.owner)
  if (owner === null && conversation.held) return [`People have this conversation. ${leaveIt}`, waitForWork]
  if (owner === null) return ['Nobody answers it yet. Call take_offered to make it yours, then answer.', waitForWork]
  if (owner !== keyId) return [`Another agent has this conversation. ${leaveIt}`, waitForWork]
  const answer = howToAnswer(conversation, now)
  const handOver = 'Call hand_over if a person should go on; it can tell the customer so in the same call.'
  if (conversation.unansweredSince !== null) return [`The customer waits for you. ${answer}`, handOver]
  return ['The customer has an answer. Call resolve if nothing is left to do, or snooze.', waitForWork, handOver]
}

function howToAnswer({ windowExpiresAt, channel }: Known, now: Date): string {
  if (windowIsOpen(windowExpiresAt, now)) return 'Call answer with a text.'
  return channel === 'unofficial'
    ? 'The 24-hour window is closed: nothing can be sent until the customer writes.'
    : 'The 24-hour window is closed: call list_templates, then answer with a template.'
}
