import { createWriteStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { type Command, Option } from 'commander'
import { encodings } from '../leads/transfer/file/file-rows.ts'
import { matchers } from '../leads/transfer/import/matchers.ts'
import { callAt, pickWorkspace, prefix, type ServerAddress, type TeamCall, withServer } from './team-call.ts'
import { openProgress, printMessage, printResult } from './terminal.ts'

interface ImportOptions {
  workspace?: string
  match: string
  map?: string[]
  label?: string[]
  value?: string[]
  splitNames?: boolean
  decimal?: string
  format?: Format
  encoding?: string
  delimiter?: string
  create: boolean
  clearEmpty?: boolean
  dryRun?: boolean
  resume?: string
  json?: boolean
}

const repeated = (value: string, all: string[] = []): string[] => [...all, value]

interface Import {
  id: string
  state: string
  fileName: string
  sizeBytes: number
  uploadedBytes: number
  doneBytes: number
  rows: number
  created: number
  updated: number
  unchanged: number
  refused: number
  rowsPerSecond: number
  refusals: { kinds: { field: string; message: string; count: number }[] }
  problem: string | null
  resumesAt: string | null
}

const partBytes = 4 * 1024 * 1024
const firstPollMs = 25
const pollEveryMs = 500

/** `parley import` */
export function addImportCommand(program: Command): void {
  program
    .command('import <file>')
    .description('import leads from a CSV or NDJSON file; rejected rows are written to a file next to it')
    .option('-w, --workspace <id or name>', 'required if there are several')
    .addOption(
      new Option('-m, --match <field>', 'field that matches a row to a lead').choices(matchers).default('externalRef'),
    )
    .option('--map <column=field>', 'field that a column fills, empty for none; can be repeated', repeated)
    .option('--label <field=name>', 'label of a custom field; can be repeated', repeated)
    .option(
      '--value <field:text=value>',
      'value for a status, priority, source, platform or person in the file, empty for none; can be repeated',
      repeated,
    )
    .option('--split-names', 'split full names into first and last name')
    .addOption(new Option('--decimal <sign>', 'decimal separator of amounts').choices(['.', ',']))
    .addOption(new Option('--format <format>', 'default: by the file name').choices(['csv', 'ndjson']))
    .addOption(new Option('--encoding <encoding>', 'default: detected UTF-8 or UTF-16').choices(encodings))
    .option('--delimiter <character>', 'separator of cells; default: detected')
    .option('--no-create', 'reject rows without a matching lead instead of creating one')
    .option('--clear-empty', 'let empty cells clear the fields of leads')
    .option('--dry-run', 'check everything without saving anything')
    .option('--resume <import id>', 'continue an interrupted upload, or follow a running import')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExits with 0 if every row was imported, 2 if rows were rejected, 1 if the import failed.\n\nExample:\n  parley import fair.csv --match phone --map "Full name=firstName" --dry-run\n',
    )
    .action(importFile)
}

async function importFile(path: string, options: ImportOptions): Promise<void> {
  const done = await withServer(async (server) => {
    const call = callAt(server)
    const { id: workspaceId } = await pickWorkspace(call, options.workspace)
    const base = `/workspaces/${workspaceId}/lead-imports`
    const started =
      options.resume === undefined
        ? await create(call, base, path, options)
        : await get(call, `${base}/${options.resume}`)
    const at = `${base}/${started.id}`
    if (started.state === 'uploading') {
      printMessage(`Import ${started.id}. If it is interrupted, continue with --resume ${started.id}`)
      await upload(server, at, path, started)
    }
    const { state } = await get(call, at)
    if (state === 'ready' || state === 'checked') await call('POST', `${at}/start`, importRequestOf(options))
    const ended = await watch(call, at)
    if (ended.refused > 0) {
      const rejectedPath = `${path}.rejected.${formatOf(path, options.format)}`
      const { body } = await openDownload(server, `${at}/refused`)
      await pipeline(body, fileAt(rejectedPath))
      printMessage(`Rejected rows: ${rejectedPath}`)
    }
    return ended
  })
  printResult(options.json, done, linesOf(done))
  if (done.state === 'failed' || done.state === 'cancelled') process.exitCode = 1
  else if (done.refused > 0) process.exitCode = 2
}

const get = async (call: TeamCall, at: string) => (await call<{ import: Import }>('GET', at)).import

async function create(call: TeamCall, base: string, path: string, options: ImportOptions): Promise<Import> {
  const { size } = await stat(path)
  const body = { fileName: basename(path), size, format: formatOf(path, options.format) }
  return (await call<{ import: Import }>('POST', base, body)).import
}

function importRequestOf(options: ImportOptions): object {
  const { match, map = [], label = [], value = [], splitNames, decimal } = options
  const { encoding, delimiter, create, clearEmpty, dryRun } = options
  const pairs = map.map((text) => pairOf(text, '--map must be column=field, such as --map "Full name=firstName"'))
  const labels = label.map((text) => pairOf(text, '--label must be field=name, such as --label k_city=City'))
  return {
    match,
    ...(pairs.length > 0 && { mapping: Object.fromEntries(pairs) }),
    ...(labels.length > 0 && { labels: Object.fromEntries(labels) }),
    ...(value.length > 0 && { values: valuesOf(value) }),
    ...(splitNames && { splitNames }),
    ...(decimal !== undefined && { decimal }),
    ...(encoding !== undefined && { encoding }),
    ...(delimiter !== undefined && { delimiter: delimiter === 'tab' || delimiter === '\\t' ? '\t' : delimiter }),
    createIfMissing: create,
    ...(clearEmpty && { emptyCells: 'clear' }),
    ...(dryRun && { dryRun }),
  }
}

function pairOf(text: string, usage: string): [string, string | null] {
  const at = text.lastIndexOf('=')
  if (at < 1) throw new Error(`${usage}, not "${text}"`)
  return [text.slice(0, at), text.slice(at + 1) || null]
}

function valuesOf(given: readonly string[]): Record<string, Record<string, string | null>> {
  const values: Record<string, Record<string, string | null>> = {}
  for (const text of given) {
    const usage = '--value must be field:text=value, such as --value status:ganho=won'
    const [named, value] = pairOf(text, usage)
    const at = named.indexOf(':')
    if (at < 1) throw new Error(`${usage}, not "${text}"`)
    values[named.slice(0, at)] = { ...values[named.slice(0, at)], [named.slice(at + 1)]: value }
  }
  return values
}

/** Uploads the file in parts, continuing where the service's copy ends. */
async function upload({ url, token }: ServerAddress, at: string, path: string, started: Import): Promise<void> {
  const progress = openProgress()
  await using file = await open(path)
  const { size } = await file.stat()
  if (size !== started.sizeBytes) throw new Error(`${path} is not the file of this import: its size differs`)
  const part = Buffer.alloc(partBytes)
  for (let offset = started.uploadedBytes; offset < size; ) {
    const { bytesRead } = await file.read(part, 0, partBytes, offset)
    if (bytesRead === 0) throw new Error(`${path} was truncated while it was read: start again with the whole file`)
    const response = await fetch(`${url}${prefix}${at}/content?offset=${offset}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream' },
      body: part.subarray(0, bytesRead),
    })
    const reply = (await response.json()) as { statusMessage: string }
    if (!response.ok) throw new Error(reply.statusMessage)
    offset += bytesRead
    progress.show(offset / size, 'uploaded')
  }
  progress.end()
}

/** Polls the import, first at short intervals, because small files finish quickly. */
async function watch(call: TeamCall, at: string): Promise<Import> {
  const progress = openProgress()
  for (let pauseMs = firstPollMs; ; pauseMs = Math.min(2 * pauseMs, pollEveryMs)) {
    const now = await get(call, at)
    const { rows, refused, rowsPerSecond, resumesAt } = now
    const pause = resumesAt === null ? '' : `; daily lead limit reached, continues at ${resumesAt}`
    progress.show(
      now.doneBytes / now.sizeBytes,
      `${rows} rows, ${refused} rejected, ${rowsPerSecond} per second${pause}`,
    )
    if (now.state !== 'running' && now.state !== 'paused') {
      progress.end()
      return now
    }
    await wait(pauseMs)
  }
}

function linesOf({ state, rows, created, updated, unchanged, refused, refusals, problem }: Import): string[] {
  const counts = `${created} created, ${updated} updated, ${unchanged} unchanged, ${refused} rejected`
  const would = state === 'checked' ? ' (dry run: nothing was saved)' : ''
  return [
    `${rows} ${rows === 1 ? 'row' : 'rows'}: ${counts}${would}`,
    ...refusals.kinds.map(({ field, message, count }) => `  ${count} × ${`${field} ${message}`.trim()}`),
    ...(problem === null ? [] : [`Failed: ${problem}`]),
    ...(state === 'cancelled' ? ['Canceled.'] : []),
  ]
}

interface ExportOptions {
  workspace?: string
  format?: Format
  filter?: string[]
}

/** `parley export` */
export function addExportCommand(program: Command): void {
  program
    .command('export <file>')
    .description('write the leads of a workspace to a CSV or NDJSON file, unencrypted')
    .option('-w, --workspace <id or name>', 'required if there are several')
    .addOption(new Option('--format <format>', 'default: by the file name').choices(['csv', 'ndjson']))
    .option('--filter <name=value>', 'list filter, such as status=won; can be repeated', repeated)
    .addHelpText('after', '\nExample:\n  parley export won.csv --filter status=won\n')
    .action(exportFile)
}

async function exportFile(path: string, { workspace, format, filter = [] }: ExportOptions): Promise<void> {
  const query = new URLSearchParams(filter.map((text) => text.split(/=(.*)/s, 2)))
  query.set('format', formatOf(path, format))
  await withServer(async (server) => {
    const { id } = await pickWorkspace(callAt(server), workspace)
    await download(server, `/workspaces/${id}/leads/export?${query}`, path)
  })
}

async function download(server: ServerAddress, at: string, path: string): Promise<void> {
  const { body, headers } = await openDownload(server, at)
  const total = Number(headers.get('x-total-count'))
  const progress = openProgress()
  let bytes = 0
  let lines = 0
  const counted = new Transform({
    transform: (piece: Buffer, _encoding, done) => {
      bytes += piece.length
      for (let at = piece.indexOf(10); at !== -1; at = piece.indexOf(10, at + 1)) lines++
      // Approximate, because notes may contain line breaks.
      progress.show(Math.min(1, lines / (total + 1)), `${Math.round(bytes / 1024)} KiB of ${total} leads`)
      done(null, piece)
    },
  })
  // Fails if the file is cut short.
  await pipeline(body, counted, fileAt(path))
  progress.end()
  printMessage(`Exported ${total} ${total === 1 ? 'lead' : 'leads'} to ${path}`)
}

type Format = 'csv' | 'ndjson'

const formatOf = (path: string, wanted: Format | undefined): Format =>
  wanted ?? (/\.(?:ndjson|jsonl)$/i.test(path) ? 'ndjson' : 'csv')

const fileAt = (path: string) => createWriteStream(path, { mode: 0o600 })

async function openDownload({ url, token }: ServerAddress, at: string): Promise<{ body: Readable; headers: Headers }> {
  // No compression, because the service is on this machine.
  const headers = { authorization: `Bearer ${token}`, 'accept-encoding': 'identity' }
  const response = await fetch(url + prefix + at, { headers })
  if (!response.ok || response.body === null) {
    const { statusMessage } = (await response.json()) as { statusMessage: string }
    throw new Error(statusMessage)
  }
  return { body: Readable.fromWeb(response.body), headers: response.headers }
}
