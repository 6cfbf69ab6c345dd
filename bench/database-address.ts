import type { DbOptions } from '../server/src/base/db.ts'

/** Address of the database, passed to processes of run.ts in the environment. */
export type DatabaseEnvironment = Record<'PG_SOCKET' | 'PG_DATABASE' | 'PGPASSWORD', string>

export type Database = Required<Pick<DbOptions, 'socketFolder' | 'database' | 'user' | 'password'>>

export function environmentOf({ socketFolder, database, password }: Database): DatabaseEnvironment {
  return { PG_SOCKET: socketFolder, PG_DATABASE: database, PGPASSWORD: password }
}

export function databaseOf({
  PG_SOCKET = '',
  PG_DATABASE = 'parley',
  PGPASSWORD = '',
}: Partial<DatabaseEnvironment>): Database {
  return { socketFolder: PG_SOCKET, database: PG_DATABASE, user: 'parley', password: PGPASSWORD }
}
