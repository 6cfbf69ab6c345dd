import type { PartnerConnection } from '../connection/connection.ts'
import type { MediaWay } from '../media-way.ts'
import { cloudMedia, type Described, type Place } from '../waba/cloud-media.ts'
import type { Wire } from '../waba/exchange.ts'
import { ask, callTo } from './call.ts'
import { judgePartner } from './errors.ts'
import { profiles } from './profile.ts'

/** Files of a partner's numbers: by its host and with its key alone. */
export const partnerMedia = (wire: Wire): MediaWay<PartnerConnection> =>
  cloudMedia(wire, {
    describe: (connection, id) => describe(wire, connection, id),
    placeOf: (connection, url) => (URL.canParse(url) ? onOwnHost(connection, new URL(url)) : null),
    uploadTo: (connection) => callTo(connection, 'mediaPath'),
    judge: judgePartner,
  })

async function describe(wire: Wire, connection: PartnerConnection, id: string): Promise<Described> {
  const answer = await ask(wire, { method: 'GET', ...below(connection, `/${encodeURIComponent(id)}`) })
  if (answer.ok) return answer
  const { errorCode, meaning } = answer
  return { ok: false, errorCode, isDown: meaning.outcome === 'refused' && meaning.effect === 'connection_unavailable' }
}

/** The partner names the platform's address, which takes no key of the partner's: its own host has the same path. */
function onOwnHost(connection: PartnerConnection, { protocol, pathname, search }: URL): Place | null {
  // The path of any other begins with no slash, so that it would lengthen the name of the host.
  return protocol === 'https:' || protocol === 'http:' ? below(connection, pathname + search) : null
}

function below({ settings: { profile, baseUrl, apiKey } }: PartnerConnection, path: string): Place {
  return { url: baseUrl + path, headers: { [profiles[profile].keyHeader]: apiKey } }
}
