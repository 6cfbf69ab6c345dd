import type { Texts } from '../index.ts'
import { charts } from './charts.ts'
import { common } from './common.ts'
import { compose } from './compose.ts'
import { customer } from './customer.ts'
import { forms } from './forms.ts'
import { inbox } from './inbox.ts'
import { keys } from './keys.ts'
import { leads } from './leads.ts'
import { webhooks } from './webhooks.ts'

export const pt: Texts = { charts, common, compose, customer, forms, inbox, keys, leads, webhooks }
