import type { rest as en } from '../en/rest.ts'
import { charts } from './charts.ts'
import { connections } from './connections.ts'
import { erasure } from './erasure.ts'
import { files } from './files.ts'
import { filtering } from './filtering.ts'
import { finding } from './finding.ts'
import { forms } from './forms.ts'
import { home } from './home.ts'
import { keys } from './keys.ts'
import { leads } from './leads.ts'
import { problem } from './problems.ts'
import { profile } from './profile.ts'
import { settings } from './settings.ts'
import { told } from './told.ts'
import { transfer } from './transfer.ts'
import { triage } from './triage.ts'
import { webhooks } from './webhooks.ts'

export const rest: typeof en = {
  charts,
  connections,
  erasure,
  files,
  filtering,
  finding,
  forms,
  home,
  keys,
  leads,
  problem,
  profile,
  settings,
  told,
  transfer,
  triage,
  webhooks,
}
