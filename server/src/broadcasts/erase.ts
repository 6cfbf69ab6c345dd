import type { Tx } from '../base/db.ts'
import { createMentionTest, createStep, type ErasureScope, type ErasureStep } from '../base/erasure.ts'
import { type Broadcast, encryptContent, selectBroadcasts } from './broadcast.ts'

const erasedValue = '…'

/**
 * Removes the customer's phone and e-mail from names, filters and fixed texts of broadcasts. Recipients are erased with
 * their leads. A broadcast whose audience is frozen keeps working without those words; a filter with one of them must be
 * chosen again.
 */
export async function eraseBroadcasts(tx: Tx, { workspaceId, keyring, customer }: ErasureScope): Promise<ErasureStep> {
  const mentions = createMentionTest(customer)
  const broadcasts = await selectBroadcasts(tx, keyring, workspaceId, tx`for update`)
  const found = broadcasts.filter((one) => textsOf(one).some(mentions))
  for (const one of found) {
    const content = withoutMentions(one, mentions)
    await tx`
      update broadcasts
      set content = ${encryptContent(keyring, one.id, content)},
        name = ${mentions(one.name) ? erasedValue : one.name}
      where workspace_id = ${workspaceId}
        and id = ${one.id}`
  }
  return createStep({}, false)
}

const textsOf = ({ name, viewName, filter, variants }: Broadcast): string[] => [
  name,
  viewName ?? '',
  ...Object.values(filter).map(String),
  ...variants.flatMap(({ body, header, buttons }) =>
    [...body, ...(header === null ? [] : [header]), ...buttons].flatMap(({ value, fallback = '' }) => [
      value,
      fallback,
    ]),
  ),
]

function withoutMentions({ filter, viewName, variants }: Broadcast, mentions: (text: string) => boolean) {
  const clean = (text: string) => (mentions(text) ? erasedValue : text)
  const cleanOne = ({ from, value, fallback }: Broadcast['variants'][number]['body'][number]) => ({
    ...{ from, value: clean(value) },
    ...(fallback !== undefined && { fallback: clean(fallback) }),
  })
  const kept = Object.entries(filter).filter(([, value]) => !mentions(String(value)))
  return {
    // Without a condition the audience would be larger: this one is refused until people choose another.
    filter: {
      ...Object.fromEntries(kept),
      ...(kept.length < Object.keys(filter).length && { where: erasedValue }),
    },
    viewName: viewName === null ? null : clean(viewName),
    variants: variants.map(({ body, header, buttons, ...variant }) => ({
      ...variant,
      body: body.map(cleanOne),
      header: header === null ? null : cleanOne(header),
      buttons: buttons.map(cleanOne),
    })),
  }
}
