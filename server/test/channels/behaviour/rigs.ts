import type { Rig } from '../../support/channel-rig.ts'
import { cloudRigs } from '../../support/cloud-rigs.ts'
import { phoneRig } from '../../support/phone-rig.ts'

/** Every channel: each test of this folder runs over each of them. */
export const rigs: readonly Rig[] = [...cloudRigs, phoneRig]
