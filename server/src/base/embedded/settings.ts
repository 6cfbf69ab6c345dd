export type ServerSettings = Record<string, string | number>

/** Given on every start rather than written down once, so that a new version of Parley can change them. */
export const serverSettings: ServerSettings = {
  listen_addresses: '',
  // Relative to the data folder, which is 0700: nobody else reaches it, and its path may be of any length.
  unix_socket_directories: '.',
  port: 5432,
  max_connections: 60,
  shared_buffers: '128MB',
  max_wal_size: '1GB',
  wal_compression: 'on',
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
