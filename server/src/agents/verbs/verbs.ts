import type { Verb } from '../verb.ts'
import { listConversations } from './list-conversations.ts'
import { readConversation } from './read-conversation.ts'
import { waitForWork } from './wait-for-work.ts'
import { whoAmI } from './who-am-i.ts'

/** All that an agent can do, in the order in which it is shown. */
export const verbs: readonly Verb[] = [whoAmI, waitForWork, listConversations, readConversation]
