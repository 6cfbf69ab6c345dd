import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, join, relative, sep } from 'node:path'
import type { Command } from 'commander'
import { type TeamCall, withWorkspace } from './team-call.ts'
import { printResult, table } from './terminal.ts'

interface ImportOptions {
  workspace?: string
  language: string
  publish?: boolean
  dryRun?: boolean
  json?: boolean
}

interface Result {
  address: string
  action: 'created' | 'updated' | 'unchanged' | 'refused' | 'failed'
  title: string | null
  problem: string | null
}

/** Of one request, whose body the service limits to 4 MiB. */
const [maxFiles, maxLength] = [200, 1_500_000]
const pagesAtOnce = 5
const maxFileBytes = 2 * 1024 * 1024

/** `parley knowledge …` */
export function addKnowledgeCommands(program: Command): void {
  program
    .command('knowledge')
    .description('import what the business knows')
    .command('import <source>')
    .description('import a folder of Markdown and CSV files, one file, or the pages of a site map')
    .requiredOption('-l, --language <code>', 'language of articles that do not name theirs, such as pt')
    .option('--publish', 'publish new articles at once; without it they are drafts')
    .option('--dry-run', 'show what would change, and change nothing')
    .option('-w, --workspace <id or name>', 'required if there are several')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nA repeated import updates the articles of the same files or pages.\n\nExamples:\n  parley knowledge import ./help --language en --dry-run\n  parley knowledge import faq.csv --language pt --publish\n  parley knowledge import https://shop.example/sitemap.xml --language en\n',
    )
    .action(importKnowledge)
}

async function importKnowledge(source: string, { workspace, language, publish, dryRun, json }: ImportOptions) {
  const options = { language, publish: publish === true, dryRun: dryRun === true }
  const isSite = /^https?:\/\//i.test(source)
  const files = isSite ? [] : await readSource(source)
  const results = await withWorkspace(workspace, (call, place) =>
    isSite ? importSite(call, place, source, options) : importFiles(call, place, files, options),
  )
  const counts = Object.entries(Object.groupBy(results, ({ action }) => action))
  const summary = counts.map(([action, some = []]) => `${some.length} ${action}`).join(', ')
  const shown = results.filter(({ action }) => action !== 'unchanged')
  const rows = shown.map(({ action, address, title, problem }) => [`  ${action}`, address, problem ?? title ?? ''])
  const head = dryRun === true ? `Would be imported: ${summary}` : `Imported: ${summary}`
  printResult(json, { results }, [results.length === 0 ? 'Nothing to import' : head, ...table(rows)])
  if (results.some(({ action }) => action === 'failed' || action === 'refused')) process.exitCode = 1
}

type ImportBody = { language: string; publish: boolean; dryRun: boolean }

/** Reads a file, or the Markdown and CSV files of a folder with their paths within it. */
async function readSource(source: string): Promise<{ path: string; text: string }[]> {
  const isFolder = (await stat(source)).isDirectory()
  const entries = isFolder ? await readdir(source, { recursive: true, withFileTypes: true }) : []
  const paths = isFolder
    ? entries
        .filter((entry) => entry.isFile() && /\.(?:md|markdown|csv)$/i.test(entry.name))
        .map((entry) => join(entry.parentPath, entry.name))
        .sort()
    : [source]
  const files: { path: string; text: string }[] = []
  for (const path of paths) {
    if ((await stat(path)).size > maxFileBytes) throw new Error(`${path} is larger than 2 MiB: split it`)
    const name = isFolder ? relative(source, path).split(sep).join('/') : basename(path)
    files.push({ path: name, text: await readFile(path, 'utf8') })
  }
  return files
}

async function importFiles(
  call: TeamCall,
  place: string,
  files: readonly { path: string; text: string }[],
  options: ImportBody,
): Promise<Result[]> {
  const results: Result[] = []
  for (let from = 0; from < files.length; ) {
    let [to, length] = [from, 0]
    while (to < files.length && to - from < maxFiles && (to === from || length + lengthOf(files[to]) <= maxLength)) {
      length += lengthOf(files[to++])
    }
    const body = { files: files.slice(from, to), ...options }
    results.push(...(await call<{ results: Result[] }>('POST', `${place}/knowledge/import-files`, body)).results)
    from = to
  }
  return results
}

const lengthOf = (file: { text: string } | undefined): number => file?.text.length ?? 0

async function importSite(call: TeamCall, place: string, siteMap: string, options: ImportBody): Promise<Result[]> {
  const { addresses } = await call<{ addresses: string[] }>('POST', `${place}/knowledge/read-site-map`, { siteMap })
  const results: Result[] = []
  for (let from = 0; from < addresses.length; from += pagesAtOnce) {
    const body = { siteMap, addresses: addresses.slice(from, from + pagesAtOnce), ...options }
    results.push(...(await call<{ results: Result[] }>('POST', `${place}/knowledge/import-pages`, body)).results)
  }
  return results
}
