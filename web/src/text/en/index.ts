import { common } from './common.ts'
import { connections } from './connections.ts'
import { keys } from './keys.ts'
import { transfer } from './transfer.ts'

/** The texts of each room of the app. The other languages have the same shape, which the compiler sees to. */
export const en = { common, connections, keys, transfer }
