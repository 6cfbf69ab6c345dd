import type pg from 'pg'
import type { DbOptions } from '../../../src/base/db.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../../src/base/embedded/embedded-postgres.ts'
import { type DatabaseAddress, parseDatabaseUrl, socketAddress } from '../../../src/base/postgres/address.ts'
import { connect, type SessionSettings } from '../../../src/base/postgres/connect.ts'
import { withoutPooler } from '../database.ts'
import { atEnd } from '../file-lifecycle.ts'
import { newFolder } from '../folder.ts'

type Settings = Record<string, string | number>

/** Starts a server for the test file that requires its password; `folder` contains the data of a stopped one. */
export async function ownPostgres(
  settings: Settings = {},
  folder?: string,
): Promise<EmbeddedPostgres & { folder: string }> {
  const place = folder ?? (await newFolder())
  const server = await startEmbeddedPostgres({ folder: place, settings: { fsync: 'off', ...settings }, log: () => {} })
  atEnd(() => server.stop())
  return Object.assign(server, { folder: place })
}

/** Opens a session that is closed at the end of the file, in whatever state. */
export async function session(address: DatabaseAddress, settings: Partial<SessionSettings> = {}): Promise<pg.Client> {
  const client = await connect(address, { applicationName: 'parley test', parameters: {}, ...settings })
  client.on('error', () => {})
  atEnd(() => client.end())
  return client
}

/** Returns the address of a test database, bypassing a pooler. */
export function addressOf(options: DbOptions): DatabaseAddress {
  const { url, socketFolder = '', database = '', user = '', password = null } = withoutPooler(options)
  return url === undefined ? socketAddress({ socketFolder, database, user, password }) : parseDatabaseUrl(url, {})
}
