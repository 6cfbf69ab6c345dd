import type { en } from '../en/index.ts'
import { common } from './common.ts'
import { attach } from './inbox/attach.ts'
import { compose } from './inbox/compose.ts'
import { customer } from './inbox/customer.ts'
import { inbox } from './inbox/inbox.ts'
import { media } from './inbox/media.ts'
import { lead } from './lead.ts'

export const pt: typeof en = { attach, common, compose, customer, inbox, lead, media }
