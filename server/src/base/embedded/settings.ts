import { memoryBytes } from '../machine-memory.ts'

export type ServerSettings = Record<string, string | number>

const megabyte = 1024 ** 2

/**
 * An eighth of the memory, within bounds. Writes to a large workspace touch pages all over it: where these do not stay,
 * each change pays for reading some and for writing others away.
 */
export function sharedBuffers(memory: number): string {
  const share = Math.floor(memory / 8 / megabyte)
  return `${Math.min(Math.max(share, 128), 1024)}MB`
}

/** Given on every start rather than written down once, so that a new version of Parley can change them. */
export const serverSettings: ServerSettings = {
  listen_addresses: '',
  // Relative to the data folder, which is 0700: nobody else reaches it, and its path may be of any length.
  unix_socket_directories: '.',
  port: 5432,
  max_connections: 60,
  shared_buffers: sharedBuffers(memoryBytes()),
  max_wal_size: '1GB',
  // After a checkpoint the first change of each page writes it to the log in full, and a write to a large workspace
  // changes about ten. The only method that these binaries have takes more time for them than all the rest together.
  wal_compression: 'off',
  random_page_cost: 1.1,
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  lc_messages: 'C',
  log_destination: 'stderr',
  logging_collector: 'off',
  log_line_prefix: '%m [%p] ',
  // Statements, their parameters and even plain errors ("invalid input syntax … «value»") can hold personal data:
  // none of them reach the log. What the program itself logs tells of a failed statement.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_statement: 'none',
  log_min_duration_statement: -1,
  log_parameter_max_length: 0,
  log_parameter_max_length_on_error: 0,
  log_autovacuum_min_duration: -1,
  log_checkpoints: 'off',
  log_lock_waits: 'off',
}
