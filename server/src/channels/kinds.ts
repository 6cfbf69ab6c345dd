import type { Channel, Connection } from './connection/connection.ts'
import type { Kind } from './kind.ts'
import { partnerKind } from './partner/kind.ts'
import { sessionKind } from './unofficial/kind.ts'
import { wabaKind } from './waba/kind.ts'

const kinds: { [C in Channel]: Kind<Extract<Connection, { channel: C }>> } = {
  waba: wabaKind,
  partner: partnerKind,
  unofficial: sessionKind,
}

/** The kind of a channel, to be given connections and input of that channel alone. */
export const kindOf = (channel: Channel): Kind => kinds[channel] as Kind
