import type { talk as en } from '../../en/inbox/talk.ts'
import { attach } from './attach.ts'
import { compose } from './compose.ts'
import { customer } from './customer.ts'
import { media } from './media.ts'

export const talk: typeof en = { attach, compose, customer, media }
