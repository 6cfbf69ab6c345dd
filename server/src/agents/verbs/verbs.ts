import type { Verb } from '../verb.ts'
import { whoAmI } from './who-am-i.ts'

/** All that an agent can do, in the order in which it is shown. */
export const verbs: readonly Verb[] = [whoAmI]
