import { common } from './common.ts'
import { inbox } from './inbox/inbox.ts'
import { lead } from './lead.ts'

/** What the frame and the list of the inbox say, there from the first moment. Other languages have the same shape: the compiler sees to it. */
export const en = { common, inbox, lead }
