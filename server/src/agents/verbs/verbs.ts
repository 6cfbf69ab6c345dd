import type { Verb } from '../verb.ts'
import { addNote } from './add-note.ts'
import { answer } from './answer.ts'
import { label, resolve, snooze } from './change-conversation.ts'
import { handOverToPeople, handToOtherAgent, takeWhatIsOffered } from './hand-on.ts'
import { listConversations } from './list-conversations.ts'
import { readConversation } from './read-conversation.ts'
import { whoAmI } from './who-am-i.ts'

/** All that an agent can do, in the order in which it is shown. */
export const verbs: readonly Verb[] = [
  whoAmI,
  listConversations,
  readConversation,
  answer,
  addNote,
  handOverToPeople,
  handToOtherAgent,
  takeWhatIsOffered,
  snooze,
  resolve,
  label,
]
