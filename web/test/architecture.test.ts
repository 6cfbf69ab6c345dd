import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix, relative, sep } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const web = fileURLToPath(new URL('..', import.meta.url))

// Every other folder is a page: pages may import all of these but the last, and never each other.
const ranks: Record<string, number> = {
  text: 0,
  api: 0,
  ui: 1,
  session: 2,
  data: 3,
  shared: 4,
  app: 6,
  'main.tsx': 7,
}
const pageRank = 5
const [maxLines, maxFiles, shardLines] = [400, 25, 30]

interface SourceFile {
  /** Relative to `web`, with slashes. */
  path: string
  text: string
  lines: number
  /** Imported files of the app, including types. */
  imports: string[]
  /** Those that are loaded lazily. */
  loads: string[]
}

const source = readFolder('src')
const tests = readFolder('test')
const byPath = new Map(source.map((file) => [file.path, file]))

function readFolder(folder: string): SourceFile[] {
  return readdirSync(join(web, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && entry.name !== 'schema.ts')
    .map((entry) => relative(web, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort()
    .map(readSource)
}

function readSource(path: string): SourceFile {
  const text = readFileSync(join(web, path), 'utf8')
  const found = (pattern: RegExp) =>
    [...text.matchAll(pattern)]
      .map(([, to = '']) => posix.normalize(posix.join(dirname(path), to)))
      .filter((to) => /^src\/.*\.tsx?$/.test(to) && !to.endsWith('/schema.ts'))
  return {
    path,
    text,
    lines: text.split('\n').length - 1,
    imports: found(/(?:\bfrom|\bimport)\s*\(?\s*['"](\.[^'"]*)['"]/g),
    loads: found(/\bimport\s*\(\s*['"](\.[^'"]*)['"]/g),
  }
}

const moduleOf = (path: string): string => path.split('/')[1] ?? ''
const folderOf = (path: string): string => posix.dirname(path)
const rankOf = (path: string): number => ranks[moduleOf(path)] ?? pageRank

test('no form uses the browser’s validation, whose popups cover the error texts', () => {
  const count = (text: string, word: string) => text.split(word).length - 1
  const checked = source.filter(({ text }) => count(text, '<form') !== count(text, 'noValidate'))
  assert.deepEqual(
    checked.map(({ path }) => path),
    [],
  )
})

test('reads the files and their imports', () => {
  assert.ok(source.length > 200)
  assert.ok(source.flatMap(({ imports }) => imports).length > source.length)
  assert.deepEqual(
    [...source, ...tests].flatMap(({ path, imports }) =>
      imports.filter((to) => !byPath.has(to)).map((to) => `${path} imports ${to}, which is not there`),
    ),
    [],
  )
})

test('a file imports only from its own folder or a lower rank, and no page from another page, including types', () => {
  const bad = source.flatMap(({ path, imports }) =>
    imports
      .filter((to) => moduleOf(to) !== moduleOf(path) && !(rankOf(to) < rankOf(path)))
      .map((to) => `${path} imports ${to}`),
  )
  assert.deepEqual(bad, [])
})

test('no import cycles between files, including types', () => {
  assert.deepEqual(cyclesOf(new Map(source.map(({ path, imports }) => [path, imports]))), [])
})

test('no import cycles between folders, including types', () => {
  const folders = new Map<string, string[]>()
  for (const { path, imports } of source) {
    const to = imports.map(folderOf).filter((folder) => folder !== folderOf(path))
    folders.set(folderOf(path), [...(folders.get(folderOf(path)) ?? []), ...to])
  }
  assert.deepEqual(cyclesOf(folders), [])
})

function cyclesOf(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>()
  const cycles: string[] = []
  const visit = (at: string, way: string[]) => {
    if (way.includes(at)) cycles.push([...way.slice(way.indexOf(at)), at].join(' → '))
    if (done.has(at) || way.includes(at)) return
    for (const to of graph.get(at) ?? []) visit(to, [...way, at])
    done.add(at)
  }
  for (const at of graph.keys()) visit(at, [])
  return cycles
}

test('only data/ calls the API and defines query keys', () => {
  const outside = source.filter(({ path }) => !['api', 'session', 'data'].includes(moduleOf(path)))
  const calling = outside.filter(({ path, imports }) => {
    // Files are uploaded in parts, which the typed client does not support.
    const isUpload = path === 'src/leads/transfer/upload.ts'
    return imports.includes('src/api/client.ts') && !isUpload
  })
  // The palette has its own query key for its sources.
  const keyed = outside.filter(({ path, text }) => /queryKey: \[/.test(text) && path !== 'src/ui/palette-sources.ts')
  assert.deepEqual(
    [...calling, ...keyed].map(({ path }) => path),
    [],
  )
})

test('every query key is defined once', () => {
  const seen = new Map<string, string[]>()
  for (const { path, text } of source.filter((file) => moduleOf(file.path) === 'data')) {
    for (const [, key = ''] of text.matchAll(/\[workspaceId, ('[^\]]*)\]/g))
      seen.set(key, [...(seen.get(key) ?? []), path])
  }
  assert.ok(seen.size > 20)
  assert.deepEqual(
    [...seen].filter(([, places]) => places.length > 1),
    [],
  )
})

test('a component gets its workspace from the address, not from props', () => {
  const handed = source.filter(
    ({ path, text }) => path.endsWith('.tsx') && /\bworkspaceId=\{|^ {2}workspaceId: string$/m.test(text),
  )
  assert.deepEqual(
    handed.map(({ path }) => path),
    [],
  )
})

test('only ui/ renders overlays, which handle keys and focus, and changes query parameters', () => {
  const own = source.filter(
    ({ path, text }) => moduleOf(path) !== 'ui' && /\b(?:Modal|Drawer)\b[^}]*\} from '@mantine\/core'/.test(text),
  )
  const ofAddress = source.filter(
    ({ path, text }) => !path.startsWith('src/ui/') && /navigate\(\{ ?to: '\.'/.test(text),
  )
  assert.deepEqual(
    [...own, ...ofAddress].map(({ path }) => path),
    [],
  )
})

test(`no file has more than ${maxLines} lines, and no folder more than ${maxFiles} files`, () => {
  const long = [...source, ...tests].filter(({ lines }) => lines > maxLines).map(({ path }) => path)
  const folders = Map.groupBy(source, ({ path }) => folderOf(path))
  const full = [...folders].filter(([, files]) => files.length > maxFiles).map(([folder]) => folder)
  assert.deepEqual([...long, ...full], [])
})

test(`a file of at most ${shardLines} lines is not part of its only importer in the same folder`, () => {
  const loaded = new Set(source.flatMap(({ loads }) => loads))
  // Texts are split by language; rules with a table-driven test may also be small.
  const shards = source.filter(({ path, lines }) => {
    if (lines > shardLines || loaded.has(path) || moduleOf(path) === 'text') return false
    const importers = [...source, ...tests].filter(({ imports }) => imports.includes(path))
    return importers.length === 1 && importers.every((one) => folderOf(one.path) === folderOf(path))
  })
  assert.deepEqual(
    shards.map(({ path }) => path),
    [],
  )
})

test('there are no barrel files', () => {
  const bad = source.filter(({ text }) => /^export (?:type )?(?:\*|\{[^}]*\}) from/m.test(text))
  assert.deepEqual(
    bad.map(({ path }) => path),
    [],
  )
})
