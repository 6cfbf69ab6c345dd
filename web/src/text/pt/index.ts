import type { en } from '../en/index.ts'
import { common } from './common.ts'
import { inbox } from './inbox/inbox.ts'
import { lead } from './lead.ts'

export const pt: typeof en = { common, inbox, lead }
