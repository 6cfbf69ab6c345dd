import { createWriteStream } from 'node:fs'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Command, Option } from 'commander'
import { loadConfig } from '../config.ts'
import { callAt, pickWorkspace, prefix, type ServerAddress, withServer } from './team-call.ts'
import { openProgress, say } from './terminal.ts'

interface ExportOptions {
  workspace?: string
  format?: 'csv' | 'ndjson'
  filter?: string[]
}

/** `parley export` */
export function addExportCommand(program: Command): void {
  program
    .command('export <file>')
    .description('write the leads of a workspace to a CSV or NDJSON file, in clear')
    .option('-w, --workspace <id or name>', 'needed when there are several')
    .addOption(new Option('--format <format>', 'by the name of the file unless given').choices(['csv', 'ndjson']))
    .option(
      '--filter <name=value>',
      'a filter of the list, as in status=won; may be repeated',
      (value, all: string[] = []) => [...all, value],
    )
    .addHelpText('after', '\nExample:\n  parley export won.csv --filter status=won\n')
    .action(exportFile)
}

async function exportFile(path: string, { workspace, format, filter = [] }: ExportOptions): Promise<void> {
  const query = new URLSearchParams(filter.map((text) => text.split(/=(.*)/s, 2)))
  query.set('format', format ?? (/\.(?:ndjson|jsonl)$/i.test(path) ? 'ndjson' : 'csv'))
  await withServer(loadConfig(process.env), async (server) => {
    const { id } = await pickWorkspace(callAt(server), workspace)
    await download(server, `/workspaces/${id}/leads/export?${query}`, path)
  })
}

async function download({ url, token }: ServerAddress, at: string, path: string): Promise<void> {
  // The service is on this machine: compressing would cost both sides more than it spares.
  const headers = { authorization: `Bearer ${token}`, 'accept-encoding': 'identity' }
  const response = await fetch(url + prefix + at, { headers })
  if (!response.ok || response.body === null) {
    const { statusMessage } = (await response.json()) as { statusMessage: string }
    throw new Error(statusMessage)
  }
  const total = Number(response.headers.get('x-total-count'))
  const progress = openProgress()
  let bytes = 0
  let lines = 0
  const counted = new Transform({
    transform: (piece: Buffer, _encoding, done) => {
      bytes += piece.length
      for (let at = piece.indexOf(10); at !== -1; at = piece.indexOf(10, at + 1)) lines++
      // Notes may have lines of their own: near enough for a bar.
      progress.show(Math.min(1, lines / (total + 1)), `${Math.round(bytes / 1024)} KiB of ${total} leads`)
      done(null, piece)
    },
  })
  // A file that is cut short ends in an error here, never in silence.
  await pipeline(Readable.fromWeb(response.body), counted, createWriteStream(path, { mode: 0o600 }))
  progress.end()
  say(`${total} leads: ${path}`)
}
