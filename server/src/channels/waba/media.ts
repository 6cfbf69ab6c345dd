import type { WabaConnection } from '../connection/connection.ts'
import type { MediaWay } from '../media-way.ts'
import { cloudMedia } from './cloud-media.ts'
import { judge } from './errors.ts'
import { bearer, type Wire } from './exchange.ts'
import { fetchGraph } from './graph.ts'

/** Files of the official platform. */
export const wabaMedia = (wire: Wire): MediaWay<WabaConnection> =>
  cloudMedia(wire, {
    describe: ({ settings }, id) => fetchGraph(wire, settings, encodeURIComponent(id)),
    placeOf: ({ settings: { baseUrl, accessToken } }, url) => {
      if (!URL.canParse(url)) return null
      return { url, headers: isOfPlatform(baseUrl, url) ? bearer(accessToken) : {} }
    },
    uploadTo: ({ settings, numberId }) => ({
      url: `${settings.baseUrl}/${settings.version}/${encodeURIComponent(numberId)}/media`,
      headers: bearer(settings.accessToken),
    }),
    judge,
  })

const officialHost = 'graph.facebook.com'
/** Where the platform keeps files: domains that are its own as a whole. */
const officialDomains = ['facebook.com', 'fbsbx.com', 'whatsapp.net']

/**
 * Whether an address that the platform named may be shown the token: the token opens everything that the number can do, so
 * it goes to the server that it was given for, by its very origin, and from the official one to the official ones. Whatever
 * else is named is fetched without it.
 */
export function isOfPlatform(baseUrl: string, url: string): boolean {
  const [base, place] = [new URL(baseUrl), new URL(url)]
  if (place.origin === base.origin) return true
  if (base.protocol !== 'https:' || base.hostname !== officialHost) return false
  const { protocol, hostname, port } = place
  const isOfficial = officialDomains.some((domain) => hostname === domain || hostname.endsWith(`.${domain}`))
  return protocol === 'https:' && port === '' && isOfficial
}
