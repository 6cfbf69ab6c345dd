import { common } from './common.ts'
import { attach } from './inbox/attach.ts'
import { compose } from './inbox/compose.ts'
import { customer } from './inbox/customer.ts'
import { inbox } from './inbox/inbox.ts'
import { media } from './inbox/media.ts'
import { lead } from './lead.ts'

/** What the frame and the inbox say, there from the first moment. Other languages have the same shape: the compiler sees to it. */
export const en = { attach, common, compose, customer, inbox, lead, media }
