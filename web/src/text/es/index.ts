import type { Texts } from '../index.ts'
import { common } from './common.ts'
import { compose } from './compose.ts'
import { customer } from './customer.ts'
import { inbox } from './inbox.ts'
import { keys } from './keys.ts'

export const es: Texts = { common, compose, customer, inbox, keys }
