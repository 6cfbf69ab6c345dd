import type { Rig } from '../../support/channels/channel-rig.ts'
import { cloudRigs } from '../../support/channels/cloud-rigs.ts'
import { phoneRig } from '../../support/channels/phone-rig.ts'

/** Every channel: each test of this folder runs over each of them. */
export const rigs: readonly Rig[] = [...cloudRigs, phoneRig]
