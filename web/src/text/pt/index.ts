import type { Texts } from '../index.ts'
import { common } from './common.ts'
import { keys } from './keys.ts'
import { leads } from './leads.ts'

export const pt: Texts = { common, keys, leads }
