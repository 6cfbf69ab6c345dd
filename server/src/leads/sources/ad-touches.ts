import type { Referral } from '../../channels/channel-event.ts'
import type { LeadDeps } from '../lead/lead.ts'
import { recountLeads } from '../lead/queries.ts'
import { findChatLeads } from '../write/create-from-chat.ts'
import { createTouch, fieldsOfUrl, recordTouch } from './attribution.ts'

/** Keeps which ads or posts brought customers who wrote in a chat, for those whose phone is a lead's. */
export async function recordAdTouches(
  { db, keyStore, clock }: LeadDeps,
  workspaceId: string,
  brought: readonly { phone: string; referral: Referral }[],
): Promise<void> {
  const leads = await findChatLeads(
    { db, keyStore },
    workspaceId,
    brought.map(({ phone }) => phone),
  )
  const now = clock.now()
  await keyStore.withKeyring(workspaceId, (keyring) =>
    db.tx(async (tx) => {
      for (const { phone, referral } of brought) {
        const lead = leads.get(phone)
        if (lead === undefined) continue
        const { ctwa_clid, source_id, source_type, source_url, headline } = referral
        const touch = createTouch('click_to_chat', now, {
          ...fieldsOfUrl(source_url),
          ...{ source: 'meta', medium: source_type, adId: source_id, adName: headline, ctwaClid: ctwa_clid },
        })
        await recordTouch(tx, keyring, workspaceId, lead.id, touch)
        await recountLeads(tx, workspaceId, [lead.id])
      }
    }),
  )
}
