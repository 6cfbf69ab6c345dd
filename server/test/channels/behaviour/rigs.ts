import type { Rig } from '../../support/channel-rig.ts'
import { cloudRigs } from '../../support/cloud-rigs.ts'

/** Every channel that there is a stand-in for: each test of this folder runs over each of them. */
export const rigs: readonly Rig[] = [...cloudRigs]
