import type { en } from '../en/index.ts'
import { attach } from './attach.ts'
import { common } from './common.ts'
import { compose } from './compose.ts'
import { customer } from './customer.ts'
import { inbox } from './inbox.ts'
import { lead } from './lead.ts'
import { media } from './media.ts'

export const es: typeof en = { attach, common, compose, customer, inbox, lead, media }
