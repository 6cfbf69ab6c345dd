import type { Texts } from '../index.ts'
import { common } from './common.ts'
import { connections } from './connections.ts'
import { keys } from './keys.ts'

export const pt: Texts = { common, connections, keys }
