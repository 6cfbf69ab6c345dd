import type { Texts } from '../index.ts'
import { common } from './common.ts'

export const pt: Texts = { common }
