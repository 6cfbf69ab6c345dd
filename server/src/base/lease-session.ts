import { type Fragment, processName, type Sql } from './db.ts'

/** SQL: what a process stores with its lease: its database role and application name. */
export const ownSession = (sql: Sql): Fragment => sql`current_user || ' ' || ${processName(sql)}`

/**
 * SQL condition on a row with `lease_session`: true if the process that holds the lease is dead, because the operating
 * system has closed all its sessions. If its whole machine is lost, the sessions remain and the lease must expire.
 * Sessions of other roles are invisible, so their leases are left alone. A session that changed its role after sign-in
 * doesn't see even itself, and treats no process as dead.
 */
export const isHolderDead = (sql: Sql): Fragment => sql`
  starts_with(lease_session, current_user || ' ')
    and lease_session not in (
      select usename || ' ' || application_name
      from pg_stat_activity
      where datname = current_database()
        and usename is not null
        and application_name is not null
    )
    and exists (
      select 1
      from pg_stat_activity
      where pid = pg_backend_pid()
        and usename = current_user
    )`

/** Advisory lock numbers for work that one process does at a time. Unique within the database. */
export const lockNumbers = { migration: 7_275_391, firstStart: 7_275_392, partitions: 7_275_393 } as const
