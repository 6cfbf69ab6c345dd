import type pg from 'pg'
import type { DatabaseAddress } from '../postgres/address/address.ts'
import { connect } from '../postgres/connect.ts'

/** Copies take as long as they take, and what they read must look the same on every server. */
const parameters = {
  statement_timeout: '0',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  bytea_output: 'hex',
  IntervalStyle: 'postgres',
}

/** A session of its own for `work`, which is ended whatever comes of it. */
export async function withSession<T>(
  address: DatabaseAddress,
  applicationName: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = await connect(address, { applicationName, parameters })
  client.on('error', () => undefined)
  try {
    return await work(client)
  } finally {
    // At once: a copy that nobody reads to its end would keep a polite goodbye waiting.
    client.connection.stream.destroy()
  }
}

/** Has everything that `work` reads be of one moment, and says which: whatever was committed before it is seen. */
export async function inSnapshot<T>(client: pg.Client, work: (takenAt: Date) => Promise<T>): Promise<T> {
  await client.query('begin isolation level repeatable read read only')
  const { rows } = await client.query<{ at: Date }>('select statement_timestamp() as at')
  const answer = await work(rows[0]?.at ?? new Date(0))
  await client.query('commit')
  return answer
}
