import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import { withTimeout } from '../async/loop.ts'
import { type NameMode, planOf, type Step } from './exchange.ts'
import { DatabaseError } from './failures.ts'

/** How a session can be used: a pooler may not support everything. */
export interface SessionMode {
  readonly names: NameMode
  /**
   * Whether requests can be pipelined outside a transaction. PgBouncer before 1.21 releases its server at an answer
   * even if it has forwarded a part of the next request, and sends the rest to another server.
   */
  readonly isPipelined: boolean
  /** Sent at the start of each transaction, for its duration, and before a single statement. */
  readonly settings: readonly Step[]
  /** The same settings before a script. */
  readonly scriptPrefix: string
}

/** Mode of a connection directly to the server. */
export const directMode: SessionMode = { names: 'own', isPipelined: true, settings: [], scriptPrefix: '' }

const detectTimeoutMs = 5_000
/** The query finds itself among the prepared statements of the server. */
const ownNames = 'select name from pg_prepared_statements where statement = $1'
const settingsNow = 'select name, setting from pg_settings where name = any($1)'

type Settings = Readonly<Record<string, string>>

/**
 * Detects what the pooler supports: names of prepared statements, and which of the required settings its sessions
 * already have, because it refuses them at start-up. Leaves nothing on the server.
 */
export async function detectSessionMode(client: pg.Client, requiredSettings: Settings): Promise<SessionMode> {
  client.on('error', () => undefined)
  try {
    return await withTimeout(detectTimeoutMs, () => querySessionMode(client, requiredSettings))
  } catch (error) {
    client.connection.stream.destroy()
    throw error
  }
}

async function querySessionMode(client: pg.Client, requiredSettings: Settings): Promise<SessionMode> {
  const name = `parley_${randomBytes(8).toString('hex')}`
  // A transaction stays on one server, in every pooling mode.
  const [, settings, found] = await Promise.all([
    client.query('begin'),
    client.query<{ name: string; setting: string }>(settingsNow, [Object.keys(requiredSettings)]),
    client.query<{ name: string }>({ name, text: ownNames, values: [ownNames] }).catch(unlessRefused),
  ])
  const known = found?.rows.map((row) => row.name) ?? []
  // If the server knows exactly this name, the pooler forwards names unchanged instead of managing them on every
  // server.
  const isForwarded = known.includes(name)
  await client.query(isForwarded ? `deallocate "${name}"; rollback` : 'rollback')
  const now = new Map(settings.rows.map((row) => [row.name, row.setting]))
  const missing = Object.entries(requiredSettings).filter(([setting, value]) => now.get(setting) !== value)
  const names = known.length > 0 && !isForwarded ? 'shared' : 'none'
  return { names, isPipelined: names === 'shared', ...limitsOf(missing) }
}

function unlessRefused(error: unknown): null {
  if (error instanceof DatabaseError && error.severity === 'ERROR') return null
  throw error
}

function limitsOf(missing: readonly [name: string, value: string][]): Pick<SessionMode, 'settings' | 'scriptPrefix'> {
  if (missing.length === 0) return { settings: [], scriptPrefix: '' }
  const textOf = (parts: readonly string[]) => `select ${parts.join(', ')}`
  const bound = missing.map((_, n) => `set_config($${2 * n + 1}, $${2 * n + 2}, true)`)
  const written = missing.map(([name, value]) => `set_config('${name}', '${value}', true)`)
  return {
    settings: [{ plan: planOf({ text: textOf(bound), types: [] }), values: missing.flat() }],
    scriptPrefix: `${textOf(written)}; `,
  }
}
