import type { Command } from 'commander'
import { withWorkspace } from './team-call.ts'
import { printResult, table } from './terminal.ts'

interface CheckOptions {
  workspace?: string
  connection?: string
  json?: boolean
}

interface Connection {
  id: string
  name: string
  channel: string
  state: string
}

interface Step {
  step: string
  status: 'ok' | 'warning' | 'failed' | 'skipped'
  found: string
  advice: string | null
}

interface Checked {
  connection: Connection
  check: { checkedAt: string; steps: Step[] }
}

/** `parley connection …` */
export function addConnectionCommands(program: Command): void {
  program
    .command('connection')
    .description('check connected numbers')
    .command('check')
    .description('ask the platform about each step of connecting; exits with 1 if a step failed')
    .option('-w, --workspace <id or name>', 'required if there are several')
    .option('-c, --connection <id or name>', 'only this one; by default all of the workspace')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  parley connection check --connection Sales\n')
    .action(checkConnections)
}

async function checkConnections({ workspace, connection, json }: CheckOptions): Promise<void> {
  const checked = await withWorkspace(workspace, async (call, place) => {
    const { connections } = await call<{ connections: Connection[] }>('GET', `${place}/connections`)
    const results: Checked[] = []
    // One after another: all may be of one app, whose calls the platform limits.
    for (const { id } of pick(connections, connection)) {
      results.push(await call<Checked>('POST', `${place}/connections/${id}/check`))
    }
    return results
  })
  const shown = checked.map(({ connection: { id, name, channel, state }, check }) => ({
    ...{ id, name, channel, state },
    ...check,
  }))
  const none = 'There are no connections yet. Connect a number on the page Connections of the app.'
  printResult(json, { connections: shown }, shown.length === 0 ? [none] : shown.flatMap(linesOf))
  if (shown.some(({ steps }) => steps.some(({ status }) => status === 'failed'))) process.exitCode = 1
}

function pick(connections: readonly Connection[], wanted: string | undefined): readonly Connection[] {
  if (wanted === undefined) return connections
  const found = connections.filter(({ id, name }) => id === wanted || name === wanted)
  if (found.length > 0) return found
  const names = connections.map(({ id, name }) => `  ${id}  ${name}`).join('\n')
  throw new Error(`Connection "${wanted}" not found. Connections:\n${names}`)
}

function linesOf({ name, channel, state, steps }: Connection & { steps: Step[] }): string[] {
  const rows = steps.flatMap(({ step, status, found, advice }) => [
    [`  ${status}`, step.replaceAll('_', ' '), found],
    ...(advice === null ? [] : [['', '', `→ ${advice}`]]),
  ])
  return [`${name} (${channel}, ${state})`, ...table(rows)]
}
