import type { Texts } from '../index.ts'
import { common } from './common.ts'
import { compose } from './compose.ts'
import { keys } from './keys.ts'

export const pt: Texts = { common, compose, keys }
