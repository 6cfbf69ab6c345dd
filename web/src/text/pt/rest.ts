import type { rest as en } from '../en/rest.ts'
import { connections } from './connections.ts'
import { erasure } from './erasure.ts'
import { fields } from './fields.ts'
import { forms } from './forms.ts'
import { files } from './inbox/files.ts'
import { finding } from './inbox/finding.ts'
import { start } from './inbox/start.ts'
import { triage } from './inbox/triage.ts'
import { keys } from './keys.ts'
import { leadPage } from './lead-page.ts'
import { merge } from './merge.ts'
import { problem } from './problems.ts'
import { profile } from './profile.ts'
import { settings } from './settings.ts'
import { told } from './told.ts'
import { transfer } from './transfer.ts'
import { webhooks } from './webhooks.ts'

export const rest: typeof en = {
  connections,
  erasure,
  files,
  finding,
  fields,
  forms,
  keys,
  leadPage,
  merge,
  problem,
  profile,
  settings,
  start,
  told,
  transfer,
  triage,
  webhooks,
}
