import { attach } from './attach.ts'
import { compose } from './compose.ts'
import { customer } from './customer.ts'
import { media } from './media.ts'

/** What a conversation says, which comes with the first that is opened. */
export const talk = { attach, compose, customer, media }
