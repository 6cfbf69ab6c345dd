import { type Outgoing, openOutgoing } from '../../../src/base/outgoing/guarded-fetch.ts'

/** The guarded way out, with this machine allowed: the outside of the tests is on it. */
export const openTestOutgoing = (): Outgoing => openOutgoing({ allowCidrs: ['127.0.0.0/8', '::1'] })
