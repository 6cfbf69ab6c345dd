import { attach } from './attach.ts'
import { common } from './common.ts'
import { compose } from './compose.ts'
import { customer } from './customer.ts'
import { inbox } from './inbox.ts'
import { lead } from './lead.ts'
import { media } from './media.ts'

/** What the frame and the inbox say, there from the first moment. Other languages have the same shape: the compiler sees to it. */
export const en = { attach, common, compose, customer, inbox, lead, media }
