import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const documents = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'client/README.md',
  ...globSync('docs/**/*.md', { cwd: root }),
]
// Pages that describe the code and its tests.
const guides = ['docs/architecture.md', 'docs/request-flows.md', 'docs/security.md', 'CONTRIBUTING.md']
const decisions = globSync('docs/decisions/*.md', { cwd: root })
const folders = ['', 'server/src', 'web/src']
const files = globSync('{server,web,client,n8n,simulator,bench,scripts,bin}/**/*.*', { cwd: root, exclude })
const fileNames = new Set(files.map((path) => basename(path)))
// Bare JSON file names are files that the program writes at run time.
const pathLike = /^(?:[\w.-]+\/)*(?:[\w.-]+\/|[\w.-]+\.(?:tsx?|mjs|sql|md))$/

function exclude(path: string): boolean {
  return /node_modules|web\/dist/.test(path)
}

function read(document: string): string {
  return readFileSync(join(root, document), 'utf8')
}

function withoutBlocks(text: string): string {
  return text.replaceAll(/^```[\s\S]*?^```$/gm, '')
}

for (const guide of guides) {
  test(`every file and folder that ${guide} names exists`, () => {
    const words = [...withoutBlocks(read(guide)).matchAll(/`([^`\n]+)`/g)].map(([, word = '']) => word)
    const paths = [...new Set(words.filter((word) => pathLike.test(word)))]
    // A text names the folder once, so a bare file name may be in any folder.
    const isThere = (path: string) =>
      folders.some((folder) => existsSync(join(root, folder, path))) || (!path.includes('/') && fileNames.has(path))
    assert.ok(paths.length > 3, 'paths are found')
    assert.deepEqual(
      paths.filter((path) => !isThere(path)),
      [],
    )
  })
}

test('every source file that a document names exists', () => {
  // A text may leave out the folders that it is about.
  const isLost = (path: string) => !files.some((file) => `/${file.replaceAll(sep, '/')}`.endsWith(`/${path}`))
  const lost = documents
    .filter((document) => document !== 'CHANGELOG.md')
    .flatMap((document) =>
      [...withoutBlocks(read(document)).matchAll(/`((?:[\w.-]+\/)*[\w-][\w.-]*\.(?:tsx?|mjs))`/g)]
        .filter(([, path = '']) => isLost(path))
        .map(([, path]) => `${document}: ${path}`),
    )
  assert.deepEqual(lost, [])
})

test('a decision fits on a page of 80 lines', () => {
  assert.ok(decisions.length > 40)
  assert.deepEqual(
    decisions.filter((decision) => read(decision).trimEnd().split('\n').length > 80),
    [],
  )
})

test('every link of the documents leads to an existing file and heading', () => {
  const bad = documents.flatMap((document) =>
    [...withoutBlocks(read(document)).matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, to = '']) => to)
      .filter((to) => !/^https?:/.test(to) && !leadsSomewhere(document, to))
      .map((to) => `${document} → ${to}`),
  )
  assert.deepEqual(bad, [])
})

function leadsSomewhere(document: string, to: string): boolean {
  const [path = '', heading] = to.split('#')
  const target = path === '' ? document : join(dirname(document), path)
  if (!existsSync(join(root, target))) return false
  if (heading === undefined) return true
  const headings = withoutBlocks(read(target)).matchAll(/^#+ (.*)$/gm)
  return [...headings].some(([, title = '']) => anchorOf(title) === heading)
}

/** Returns the anchor that Markdown viewers generate for a title. */
function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}

test('the diagram of docs/architecture.md shows the imports between modules, without redundant arrows', () => {
  const drawn = parseArrows(read('docs/architecture.md'))
  const imported = moduleImports()
  const missing = imported.filter(({ from, to }) => !isReached(drawn, from, to))
  assert.deepEqual(missing.map(named), [], 'imports that no arrows lead along')
  const idle = drawn.filter(({ from, to }) => !imported.some((edge) => edge.from === from && edge.to === to))
  assert.deepEqual(idle.map(named), [], 'arrows without an import')
  const doubled = drawn.filter((arrow) =>
    isReached(
      drawn.filter((other) => other !== arrow),
      arrow.from,
      arrow.to,
    ),
  )
  assert.deepEqual(doubled.map(named), [], 'arrows that follow from others')
})

interface Edge {
  /** Module that imports. */
  from: string
  to: string
}

const named = ({ from, to }: Edge): string => `${to} --> ${from}`

/** Parses lines such as `leads & inbox --> erasure`, which stands for two edges. */
function parseArrows(page: string): Edge[] {
  return [...page.matchAll(/^ {2}([\w &-]+?) --> ([\w &-]+)$/gm)].flatMap(([, below = '', above = '']) =>
    above.split(' & ').flatMap((from) => below.split(' & ').map((to) => ({ from, to }))),
  )
}

function moduleImports(): Edge[] {
  const source = join(root, 'server', 'src')
  const seen = new Map<string, Edge>()
  for (const path of globSync('**/*.ts', { cwd: source })) {
    const specifiers = readFileSync(join(source, path), 'utf8').matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'(\.[^']*)'/g)
    for (const [, specifier = ''] of specifiers) {
      const edge = { from: moduleOf(path), to: moduleOf(join(dirname(path), specifier)) }
      if (edge.to !== '..' && edge.from !== edge.to) seen.set(named(edge), edge)
    }
  }
  return [...seen.values()]
}

function moduleOf(path: string): string {
  const [first = ''] = path.split(sep)
  return first === 'main.ts' ? 'cli' : first.replace(/\.ts$/, '')
}

function isReached(edges: Edge[], from: string, to: string): boolean {
  return edges.some((edge) => edge.from === from && (edge.to === to || isReached(edges, edge.to, to)))
}

test('the README fits on a few screens', () => {
  assert.ok(read('README.md').split('\n').length <= 120)
})

test('the operations guide explains each warning and error of the log, and none that is no longer logged', () => {
  const code = globSync('server/src/**/*.ts', { cwd: root }).map(read)
  for (const { level, heading } of [
    { level: 'error', heading: 'Errors' },
    { level: 'warn', heading: 'Warnings' },
  ]) {
    const logged = [...new Set(code.flatMap((file) => loggedAt(level, file)))]
    const [, section = ''] = read('docs/operations.md').split(`\n### ${heading}\n`)
    const first = (row: string) => row.split(' | ')[0] ?? ''
    const rows = section.split('\n#')[0]?.match(/^\| `.*/gm) ?? []
    const explained = rows.map((row) => /`([^`]+)`/.exec(first(row))?.[1] ?? '')
    assert.ok(logged.length > 10, heading)
    assert.deepEqual(
      logged.filter((message) => !explained.some((text) => isLine(message, text))),
      [],
      `logged, and not explained under "${heading}"`,
    )
    assert.deepEqual(
      explained.filter((text) => !logged.some((message) => isLine(message, text))),
      [],
      `explained under "${heading}", and not logged`,
    )
  }
})

/** Returns whether `text` is what a message of the code, perhaps a template with one value, writes. */
function isLine(message: string, text: string): boolean {
  const [start = '', end] = message.split(/\$\{.*?\}/)
  return end === undefined ? text === message : text.startsWith(start) && text.endsWith(end)
}

/** Returns the messages that a file logs; for a message with a name, the texts that its constant or function holds. */
function loggedAt(level: string, code: string): string[] {
  const calls = code.matchAll(new RegExp(`\\blog\\.${level}\\(\\s*(?:\\{\\}, )?(?:(['"\`])(.*?)\\1|(\\w+))`, 'g'))
  return [...calls].flatMap(([, , text, name]) => {
    if (text !== undefined) return [text]
    const [definition = ''] = new RegExp(`\\b(?:const|function) ${name}\\b[^]*?\\n\\n`).exec(code) ?? []
    return [...definition.matchAll(/'([^'\n]* [^'\n]*)'/g)].map(([, message = '']) => message)
  })
}
