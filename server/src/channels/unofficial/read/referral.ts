import type { Referral } from '../../channel-event.ts'
import { type Loose, objectOf, textOf, tokenOf } from '../../waba/json.ts'
import { kindsOf } from './unwrap.ts'

/** Details of the ad that led to a message; null when there is none. */
export function readReferral(content: Loose): Referral | null {
  for (const kind of kindsOf(content)) {
    const ad = objectOf(objectOf(objectOf(content[kind]).contextInfo).externalAdReply)
    const referral = {
      ctwa_clid: textOf(ad.ctwaClid),
      source_id: tokenOf(ad.sourceId),
      source_type: textOf(ad.sourceType),
      source_url: textOf(ad.sourceUrl),
      headline: textOf(ad.title),
    }
    // A link with a picture has a title and an address in the same place.
    const isAd = referral.ctwa_clid !== null || referral.source_id !== null || referral.source_type !== null
    if (isAd) return referral
  }
  return null
}
