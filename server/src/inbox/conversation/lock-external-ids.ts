import type { Tx } from '../../base/db.ts'

/**
 * Makes looking up an id and parking its status atomic, as well as storing the id and reading parked statuses: the
 * second transaction sees the first. Holds the locks until the transaction ends.
 */
export const lockExternalIds = (tx: Tx, indexes: readonly Buffer[]): Promise<void> => lockIds(tx, indexes, 0)

/** `part`: byte offset in the digest of the number to lock. */
export async function lockIds(tx: Tx, indexes: readonly Buffer[], part: number): Promise<void> {
  const hashes = [...new Set(indexes.map((index) => index.readBigInt64BE(part)))].sort((a, b) => (a < b ? -1 : 1))
  if (hashes.length === 0) return
  await tx`
    select pg_advisory_xact_lock(h.hash)
    from (select hash from unnest(${hashes.map(String)}::bigint[]) as u (hash) order by hash offset 0) as h`.execute()
}
