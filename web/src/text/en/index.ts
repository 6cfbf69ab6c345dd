import { common } from './common.ts'
import { compose } from './compose.ts'
import { customer } from './customer.ts'
import { inbox } from './inbox.ts'
import { keys } from './keys.ts'

/** The texts of each room of the app. The other languages have the same shape, which the compiler sees to. */
export const en = { common, compose, customer, inbox, keys }
