import type { Connection, PartnerProfileName } from './connection/connection.ts'
import type { ConnectionChanges, NewConnection } from './connection/schema.ts'

type Way<C extends Connection> = Pick<C, 'numberId' | 'accountId' | 'settings'>

/** What a connection's page shows of the way to its platform; null for what its channel lacks. */
export interface ShownWay {
  profile: PartnerProfileName | null
  baseUrl: string | null
  version: string | null
  accessTokenLast4: string | null
  appSecretLast4: string | null
  apiKeyLast4: string | null
  signingSecretLast4: string | null
}

/** What connections of one channel are made of. Pure: what they are asked and told is the driver's. */
export interface Kind<C extends Connection = Connection> {
  hasTemplates: boolean
  /** The way to the platform of a new connection. */
  begin(input: Extract<NewConnection, { channel: C['channel'] }>, id: string): Way<C>
  /** What of a change a connection of the channel has, beside its name. */
  changes: readonly (keyof ConnectionChanges)[]
  /** The secrets that the platform is shown: they are for the server that they were given for. */
  secretsSent: readonly (keyof ConnectionChanges)[]
  change(one: C, changes: ConnectionChanges): Way<C>
  show(one: C): ShownWay
  /** Below the service's public address; null when the platform does not call. */
  webhookPath(one: C): string | null
  /** What the platform shows when somebody sets the webhook there by hand; null when nobody does. */
  verifyToken(one: C): string | null
}

export const nothingShown: ShownWay = {
  profile: null,
  baseUrl: null,
  version: null,
  accessTokenLast4: null,
  appSecretLast4: null,
  apiKeyLast4: null,
  signingSecretLast4: null,
}
