import { parseIsoTime } from '../../base/time.ts'
import { type ArticleFields, type ArticleKind, articleKinds, limits } from '../article.ts'
import type { ImportedArticle } from '../write-article.ts'

export interface ImportDefaults {
  /** Of articles that name none. */
  language: string
}

/** A file, or a row of it, that is not an article, and why. */
export interface ImportProblem {
  address: string
  problem: string
}

export interface ParsedFiles {
  articles: ImportedArticle[]
  problems: ImportProblem[]
}

export const maxRows = 2000

/** Parses Markdown and CSV files with their paths within a folder. An article that breaks a limit becomes a problem; the others are imported. */
export async function parseFiles(
  files: readonly { path: string; text: string }[],
  defaults: ImportDefaults,
): Promise<ParsedFiles> {
  const parsed: ParsedFiles = { articles: [], problems: [] }
  const add = (address: string, values: RawArticle) => {
    const checked = checkArticle(values, defaults)
    if (typeof checked === 'string') parsed.problems.push({ address, problem: checked })
    else if (parsed.articles.some((one) => one.address === address)) {
      parsed.problems.push({ address, problem: 'has the same address as another one' })
    } else parsed.articles.push({ address, fields: checked })
  }
  for (const { path, text } of files) {
    if (/\.(?:md|markdown)$/i.test(path)) add(path, parseMarkdown(path, text))
    else if (/\.csv$/i.test(path)) {
      const rows = await parseCsv(text)
      if (typeof rows === 'string') parsed.problems.push({ address: path, problem: rows })
      else for (const { address, values } of rows) add(address === '' ? `${path}#${values.title}` : address, values)
    } else parsed.problems.push({ address: path, problem: 'must be a Markdown or CSV file' })
  }
  return parsed
}

/** Values as a file has them; absent or empty for the default. */
export type RawArticle = Partial<
  Record<'title' | 'body' | 'language' | 'tags' | 'kind' | 'validFrom' | 'validUntil', string>
>

/** Returns the article, or what is wrong with it. */
export function checkArticle(values: RawArticle, { language }: ImportDefaults): ArticleFields | string {
  const cell = (name: keyof RawArticle) => values[name]?.trim() ?? ''
  const tags = cell('tags')
    .split(/[,;]/)
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '')
  const kind: ArticleKind | undefined = articleKinds.find((one) => one === (cell('kind').toLowerCase() || 'article'))
  // Also `pt-BR`: words are the same in all regions.
  const own = (cell('language') || language).toLowerCase().split(/[-_]/)[0] ?? ''
  const [title, body] = [cell('title'), cell('body')]
  const times = (['validFrom', 'validUntil'] as const).map((name) =>
    cell(name) === '' ? null : (parseIsoTime(cell(name)) ?? undefined),
  )
  const [validFrom = null, validUntil = null] = times
  if (title === '') return 'has no title'
  if (title.length > limits.title) return `has a title of more than ${limits.title} characters`
  if (body === '') return 'has no text'
  if (body.length > limits.body) return `has more than ${limits.body} characters`
  if (!/^[a-z]{2,3}$/.test(own)) return 'has a language that is not a code of two or three letters, such as pt'
  if (tags.length > limits.tags || tags.some((tag) => tag.length > limits.tag)) {
    return `can have ${limits.tags} tags of ${limits.tag} characters`
  }
  if (kind === undefined) return `has a kind that is not ${articleKinds.join(' or ')}`
  if (times.includes(undefined)) return 'has a time that is not like 2026-03-01'
  if (validFrom && validUntil && validUntil <= validFrom) return 'is valid until a time before it is valid'
  return {
    ...{ kind, language: own, title, body, tags, keyIds: null },
    ...{ validFrom: validFrom ?? null, validUntil: validUntil ?? null },
  }
}

const fieldNames: Readonly<Record<string, keyof RawArticle>> = {
  ...{ title: 'title', question: 'title', body: 'body', answer: 'body', text: 'body' },
  ...{ language: 'language', lang: 'language', tags: 'tags', kind: 'kind' },
  ...{ valid_from: 'validFrom', valid_until: 'validUntil' },
}
const fieldOf = (name: string): keyof RawArticle | undefined => {
  const key = name.trim().toLowerCase().replaceAll(/[ -]/g, '_')
  return Object.hasOwn(fieldNames, key) ? fieldNames[key] : undefined
}

/**
 * Parses a Markdown file. Its front matter can name the title, language, tags, kind and validity; without a title there,
 * the first heading is the title, else the name of the file.
 */
export function parseMarkdown(path: string, file: string): RawArticle {
  const text = file.replace(/^\ufeff/, '').replaceAll('\r\n', '\n')
  const { values, body } = splitFrontMatter(text)
  if (values.title) return { ...values, body }
  const lines = body.split('\n')
  const first = lines.findIndex((line) => line.trim() !== '')
  const heading = /^# {0,9}(.{1,300}?)(?: #{1,6})?$/.exec(lines[first] ?? '')?.[1]?.trim()
  if (heading) return { ...values, title: heading, body: lines.slice(first + 1).join('\n') }
  const name = (path.split(/[\\/]/).at(-1) ?? path).replace(/\.\w{2,8}$/, '').replaceAll(/[-_]+/g, ' ')
  return { ...values, title: name, body }
}

const maxFrontMatterLines = 100

/** Reads `name: value` lines between two lines of `---`, with lists in one line or as lines of `- item`. */
function splitFrontMatter(text: string): { values: RawArticle; body: string } {
  const lines = text.split('\n')
  const end = lines.slice(0, maxFrontMatterLines).findIndex((line, n) => n > 0 && line.trimEnd() === '---')
  if (lines[0]?.trimEnd() !== '---' || end === -1) return { values: {}, body: text }
  const values: RawArticle = {}
  let list: keyof RawArticle | undefined
  for (const line of lines.slice(1, end)) {
    const item = /^\s{0,8}- (.{1,200})$/.exec(line)?.[1]
    if (item !== undefined && list !== undefined) {
      values[list] = [values[list], unquoted(item)].filter(Boolean).join(',')
      continue
    }
    const colon = line.indexOf(':')
    const field = colon === -1 ? undefined : fieldOf(line.slice(0, colon))
    list = field
    const value = line.slice(colon + 1).trim()
    if (field === undefined || value === '') continue
    values[field] =
      value.startsWith('[') && value.endsWith(']')
        ? value.slice(1, -1).split(',').map(unquoted).join(',')
        : unquoted(value)
  }
  return { values, body: lines.slice(end + 1).join('\n') }
}

function unquoted(value: string): string {
  const text = value.trim()
  const quote = text.at(0)
  const isQuoted = text.length > 1 && (quote === '"' || quote === "'") && text.endsWith(quote)
  return isQuoted ? text.slice(1, -1) : text
}

/** Parses a CSV file whose first row names the columns; returns the problem if it is not one. */
async function parseCsv(text: string): Promise<{ address: string; values: RawArticle }[] | string> {
  const { parse } = await import('csv-parse/sync')
  let rows: string[][]
  try {
    rows = parse(text, {
      bom: true,
      delimiter: [',', ';', '\t'],
      relax_column_count: true,
      skip_empty_lines: true,
      to: maxRows + 2,
    })
  } catch {
    return 'is not a CSV file: check its quotes'
  }
  if (rows.length > maxRows + 1) return `has more than ${maxRows} rows: split it`
  const [header = [], ...articles] = rows
  const fields = header.map(fieldOf)
  if (!fields.includes('title') || !fields.includes('body')) return 'must have columns title and body in its first row'
  const addressAt = header.findIndex((name) => ['address', 'url', 'id'].includes(name.trim().toLowerCase()))
  return articles.map((cells) => {
    const values: RawArticle = {}
    for (const [n, field] of fields.entries()) if (field !== undefined) values[field] = cells[n] ?? ''
    return { address: (cells[addressAt] ?? '').trim().slice(0, limits.address), values }
  })
}
