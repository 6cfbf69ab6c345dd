import type { PartnerConnection } from '../connection/connection.ts'
import type { Connector } from '../connector.ts'
import type { Wire } from '../waba/exchange.ts'
import { cloudConnector } from '../waba/sender.ts'
import { callTo } from './call.ts'
import { judgePartner } from './errors.ts'

const sendTimeoutMs = 20_000

/** The way out over a partner of the official platform. `timeoutMs` bounds one call. */
export const partnerConnector = (wire: Wire, timeoutMs: number = sendTimeoutMs): Connector<PartnerConnection> =>
  cloudConnector(wire, timeoutMs, judgePartner, (connection) => callTo(connection, 'messagesPath'))
