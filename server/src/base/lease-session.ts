import { type Fragment, processName, type Sql } from './db.ts'

/** SQL: what a process writes beside its lease, the role and the name of its sessions at the database. */
export const ownSession = (sql: Sql): Fragment => sql`current_user || ' ' || ${processName(sql)}`

/**
 * SQL, of a row with `lease_session`: the process that holds the lease is dead, since its system has closed every session
 * that it had. One whose machine is gone keeps its sessions, and its leases for their time. Sessions of other roles cannot
 * be seen, so those are left alone; and one that has taken on another role than it signed in with sees not even its own,
 * and takes nobody for dead.
 */
export const isHeldByDead = (sql: Sql): Fragment => sql`
  starts_with(lease_session, current_user || ' ')
    and lease_session not in (
      select usename || ' ' || application_name
      from pg_stat_activity
      where datname = current_database()
        and usename is not null
        and application_name is not null
    )
    and exists (
      select
      from pg_stat_activity
      where pid = pg_backend_pid()
        and usename = current_user
    )`

/** The advisory locks of what one process does at a time. Any number will do that no other has: they belong to one database. */
export const lockNumbers = { migration: 7_275_391, firstStart: 7_275_392, partitions: 7_275_393 } as const
