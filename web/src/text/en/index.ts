import { charts } from './charts.ts'
import { common } from './common.ts'
import { compose } from './compose.ts'
import { connections } from './connections.ts'
import { customer } from './customer.ts'
import { forms } from './forms.ts'
import { home } from './home.ts'
import { inbox } from './inbox.ts'
import { keys } from './keys.ts'
import { leads } from './leads.ts'
import { profile } from './profile.ts'
import { settings } from './settings.ts'
import { transfer } from './transfer.ts'
import { webhooks } from './webhooks.ts'

/** The texts of each room of the app. The other languages have the same shape, which the compiler sees to. */
export const en = { charts, common, compose, connections, customer, forms, home, inbox, keys, leads, profile, settings, transfer, webhooks }
