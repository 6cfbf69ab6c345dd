import type { Tx } from '../../../base/db.ts'
import type { ApiError } from '../../../base/errors.ts'
import { phoneClass } from '../../../base/phone/phone-variants.ts'
import { byteaArray } from '../../../base/postgres/values.ts'
import type { Keyring } from '../../../base/sealing/keyring.ts'
import type { UpsertItem, UpsertOutcome } from '../../write/upsert-plan.ts'
import type { ImportRow } from './imports.ts'

/**
 * How many of the leads that a dry run would create an earlier batch of it would have created already: the real run
 * would find those. The names are kept as digests in the database, since the file may have any number of them.
 */
export async function countAsFound(
  tx: Tx,
  keyring: Keyring,
  { workspace_id, id }: ImportRow,
  items: readonly (UpsertItem | ApiError)[],
  outcomes: readonly UpsertOutcome[],
): Promise<number> {
  const names = items.flatMap((item, at) =>
    outcomes[at]?.action === 'created' && 'by' in item && item.by !== 'id' ? [nameOf(keyring, item)] : [],
  )
  if (names.length === 0) return 0
  const added = await tx`
    insert into lead_import_dry_names (workspace_id, import_id, name)
    select ${workspace_id}::uuid, ${id}::uuid, n.name
    from unnest(${byteaArray(names)}::bytea[]) as n (name)
    on conflict do nothing
    returning 1`
  return names.length - added.length
}

function nameOf(keyring: Keyring, { by, value }: UpsertItem): Buffer {
  return keyring.stable(`import ${by}`, by === 'phone' ? phoneClass(value) : value)
}
