import type { Sql, Tx } from '../../base/db.ts'
import { unprocessable } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import { unnested } from '../../base/postgres/rows.ts'
import type { TeamActor } from '../../team/member.ts'
import type { Rate, RateCardRows } from './parse-platform-card.ts'

/** An imported rate card. */
export interface RateCard {
  id: string
  currency: string
  /** Such as `2026-10-01`, a day in the account's time zone. */
  validFrom: string
  importedAt: Date
  rates: number
}

/** More than the platform can publish in its 16 currencies within three years. */
const maxRateCards = 200

export async function listRateCards(sql: Sql, workspaceId: string): Promise<RateCard[]> {
  return sql<RateCard[]>`
    select c.id, c.currency, c.valid_from::text as "validFrom", c.imported_at as "importedAt", (
      select count(*)::integer
      from rates r
      where r.workspace_id = ${workspaceId}
        and r.rate_card_id = c.id
    ) as rates
    from rate_cards c
    where c.workspace_id = ${workspaceId}
    order by c.valid_from desc, c.currency
    limit ${maxRateCards}`
}

/**
 * Stores rate cards. A card of the same currency and day is replaced; tiers are added to it, and it must be there. Costs are
 * computed when they are read, so that a card also prices what was charged before its import. Returns the ids.
 */
export async function storeRateCards(
  tx: Tx,
  workspaceId: string,
  cards: readonly RateCardRows[],
  { actor, now }: { actor: TeamActor; now: Date },
): Promise<string[]> {
  const ids: string[] = []
  for (const { currency, validFrom, rates, isAddition = false } of cards) {
    // Waits for another import of the card, which then replaces it.
    await tx`select pg_advisory_xact_lock(hashtextextended(${`rate cards ${workspaceId}`}, 0))`
    if (isAddition) {
      ids.push(await addTiers(tx, workspaceId, { currency, validFrom, rates }))
      continue
    }
    await tx`
      delete from rate_cards
      where workspace_id = ${workspaceId}
        and currency = ${currency}
        and valid_from = ${validFrom}::date`
    const id = newId(now)
    ids.push(id)
    await tx`
      insert into rate_cards (workspace_id, id, currency, valid_from, imported_at, actor_type, actor_id)
      values (${workspaceId}, ${id}, ${currency}, ${validFrom}::date, ${now}, ${actor.type}, ${actor.id})`
    await insertRates(tx, workspaceId, id, rates)
  }
  const [counted] = await tx<{ count: number }[]>`
    select count(*)::integer as count
    from rate_cards
    where workspace_id = ${workspaceId}`
  if ((counted?.count ?? 0) > maxRateCards) {
    throw unprocessable(`A workspace has at most ${maxRateCards} rate cards. Delete old ones first.`)
  }
  return ids
}

async function insertRates(tx: Tx, workspaceId: string, cardId: string, rates: readonly Rate[]): Promise<void> {
  await tx`
    insert into rates (workspace_id, rate_card_id, market, category, from_message, price)
    select ${workspaceId}::uuid, ${cardId}::uuid, n.market, n.category, n.from_message::bigint, n.price::numeric
    from ${unnested(
      rates.map((rate) => ({ ...rate, fromMessage: String(rate.fromMessage) })),
      { text: ['market', 'category', 'fromMessage', 'price'] },
    )}`
}

/** Replaces the prices of the tiers' markets and categories on the card of their currency and day; returns its id. */
async function addTiers(tx: Tx, workspaceId: string, { currency, validFrom, rates }: RateCardRows): Promise<string> {
  const [card] = await tx<{ id: string }[]>`
    select id
    from rate_cards
    where workspace_id = ${workspaceId}
      and currency = ${currency}
      and valid_from = ${validFrom}::date`
  if (card === undefined) {
    throw unprocessable(
      `There is no rate card in ${currency} from ${validFrom} to which these tiers belong. Import the prices of that day first.`,
    )
  }
  await tx`
    delete from rates r
    using ${unnested(
      rates.map(({ market, category }) => ({ market, category })),
      { text: ['market', 'category'] },
    )}
    where r.workspace_id = ${workspaceId}
      and r.rate_card_id = ${card.id}
      and r.market = n.market
      and r.category = n.category`
  await insertRates(tx, workspaceId, card.id, rates)
  return card.id
}

/** Returns false if there is no such card. */
export async function deleteRateCard(tx: Tx, workspaceId: string, id: string): Promise<boolean> {
  const deleted = await tx`
    delete from rate_cards
    where workspace_id = ${workspaceId}
      and id = ${id}`
  return deleted.count > 0
}
