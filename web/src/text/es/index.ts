import type { Texts } from '../index.ts'
import { common } from './common.ts'
import { inbox } from './inbox.ts'
import { keys } from './keys.ts'

export const es: Texts = { common, inbox, keys }
