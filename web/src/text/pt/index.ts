import type { Texts } from '../index.ts'
import { common } from './common.ts'
import { connections } from './connections.ts'
import { keys } from './keys.ts'
import { transfer } from './transfer.ts'

export const pt: Texts = { common, connections, keys, transfer }
