import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix, relative, sep } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const server = fileURLToPath(new URL('..', import.meta.url))
const source = join(server, 'src')

const ranks: Record<string, number> = {
  base: 0,
  config: 1,
  team: 1,
  mail: 1,
  workspaces: 2,
  auth: 2,
  notifications: 2,
  events: 3,
  channels: 3,
  consents: 3,
  media: 3,
  leads: 4,
  inbox: 4,
  knowledge: 4,
  agents: 5,
  forms: 5,
  reports: 5,
  scenarios: 5,
  tasks: 5,
  sequences: 5,
  webhooks: 5,
  erasure: 5,
  'key-rotation': 5,
  automation: 6,
  broadcasts: 6,
  http: 6,
  stats: 6,
  mcp: 6,
  // May import every module.
  app: 7,
  // main.ts and cli/ may import everything, including each other.
  top: 8,
}

interface SourceFile {
  /** Path below `src`, with slashes. */
  path: string
  text: string
  lines: number
  /** Files of ours that it imports, including types, as paths below `src`. */
  imports: string[]
}

const files = readFolder(source).map(readSource)
const simulator = readFolder(join(server, '../simulator/src')).map(readSource)
const byPath = new Map(files.map((file) => [file.path, file]))

function readFolder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

function readSource(file: string): SourceFile {
  const path = relative(source, file).split(sep).join('/')
  const text = readFileSync(file, 'utf8')
  const specifiers = [...text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*['"](\.[^'"]*)['"]/g)].map(([, to]) => to ?? '')
  const imports = specifiers.map((to) => posix.normalize(posix.join(dirname(path), to)))
  return { path, text, lines: text.split('\n').length - 1, imports }
}

function moduleOf(path: string): string {
  const [first = ''] = path.split('/')
  if (first === 'cli' || first === 'main.ts') return 'top'
  return first.replace(/\.ts$/, '')
}

test('every file is in a module that has a rank', () => {
  assert.ok(files.length > 50)
  assert.deepEqual(
    files.map((file) => file.path).filter((path) => ranks[moduleOf(path)] === undefined),
    [],
  )
})

test('a file imports from its own module or from a lower rank, never up or across; types count', () => {
  const rankOf = (path: string) => ranks[moduleOf(path)] ?? Number.NaN
  const bad = files.flatMap(({ path, imports }) =>
    imports
      .filter((to) => !to.startsWith('..'))
      .filter((to) => moduleOf(to) !== moduleOf(path) && !(rankOf(to) < rankOf(path)))
      .map((to) => `${path} imports ${to}`),
  )
  assert.deepEqual(bad, [])
})

test('every relative import names an existing file, with its extension', () => {
  const bad = files.flatMap(({ path, imports }) =>
    imports.filter((to) => !byPath.has(to) && !/^\.\.\/|\.json$/.test(to)).map((to) => `${path} imports ${to}`),
  )
  assert.deepEqual(bad, [])
  const inner = files.flatMap(({ imports }) => imports).filter((to) => byPath.has(to))
  assert.ok(inner.length > files.length, 'the imports are read')
})

test('leads and inbox never import each other, nor webhooks or forms', () => {
  const seen = files
    .filter(({ path }) => ['leads', 'inbox'].includes(moduleOf(path)))
    .flatMap(({ path, imports }) => imports.map((to) => [moduleOf(path), moduleOf(to)].join(' → ')))
  for (const edge of [
    'leads → inbox',
    'inbox → leads',
    'leads → webhooks',
    'inbox → webhooks',
    'leads → forms',
    'leads → agents',
    'inbox → agents',
  ]) {
    assert.ok(!seen.includes(edge), edge)
  }
  assert.ok(seen.includes('leads → events'))
})

test('in the inbox, only its APIs import routes and presenters', () => {
  const bad = files
    .filter(({ path }) => moduleOf(path) === 'inbox' && !/routes|present|request|live/.test(path))
    .flatMap(({ path, imports }) =>
      imports.filter((to) => /routes|present/.test(to)).map((to) => `${path} imports ${to}`),
    )
  assert.deepEqual(bad, [])
})

test('only the command line imports the simulator', () => {
  const bad = files
    .filter(({ path }) => !path.startsWith('cli/'))
    .filter(({ imports }) => imports.some((to) => to.includes('simulator')))
  assert.deepEqual(
    bad.map(({ path }) => path),
    [],
  )
  const known = simulator.flatMap(({ imports }) => imports.filter((to) => /server\/src\/(?!base\/)/.test(to)))
  assert.deepEqual(known, [], 'the simulator imports only base/ of the server')
})

test('only one file imports OpenTelemetry, and it is loaded on demand', () => {
  const folder = 'http/monitoring/telemetry'
  const behind = [`${folder}/sdk.ts`]
  const users = files.filter(({ text }) => text.includes("from '@opentelemetry/"))
  assert.deepEqual(
    users.map(({ path }) => path),
    behind,
  )
  const importers = files.filter(
    ({ path, imports }) => !behind.includes(path) && imports.some((to) => behind.includes(to)),
  )
  assert.deepEqual(
    importers.map(({ path }) => path),
    [`${folder}/telemetry.ts`],
  )
  const [{ text = '' } = {}] = importers
  assert.doesNotMatch(text, /import (?!type)[^(]{1,200} from '\.\/sdk\.ts'/)
})

test('there are no import cycles', () => {
  const done = new Set<string>()
  const cycles: string[] = []
  const visit = (path: string, way: string[]) => {
    if (way.includes(path)) cycles.push([...way.slice(way.indexOf(path)), path].join(' → '))
    if (done.has(path) || way.includes(path)) return
    for (const to of byPath.get(path)?.imports ?? []) visit(to, [...way, path])
    done.add(path)
  }
  for (const { path } of files) visit(path, [])
  assert.deepEqual(cycles, [])
})

const tests = [join(server, 'test'), join(server, '../simulator/test')].flatMap(readFolder).map(readSource)

test('no file has more than 400 lines, and no folder more than 25 files', () => {
  const long = [...files, ...simulator, ...tests].filter((file) => file.lines > 400)
  assert.deepEqual(
    long.map(({ path, lines }) => `${path} has ${lines}`),
    [],
  )
  for (const all of [files, simulator, tests]) {
    const folders = Map.groupBy(all, ({ path }) => dirname(path))
    assert.deepEqual(
      [...folders]
        .filter(([, inside]) => inside.length > 25)
        .map(([folder, inside]) => `${folder} has ${inside.length}`),
      [],
    )
  }
})

// Each module has its part in these under a fixed name, however short.
const roles = new Set(['erase.ts', 'retention.ts', 'routes.ts', 'adapter.ts'])

// Deliberately short files, with the reason.
const onPurpose: Record<string, string> = {
  'auth/rate-limit/open-limiter.ts': 'which limit store to use is a rule of this module, not of its callers',
}

test('a file of at most 30 lines with a single importer belongs in that file', () => {
  const importers = (path: string) => files.filter(({ imports }) => imports.includes(path))
  const shards = files
    .filter(({ path, lines }) => lines <= 30 && !path.startsWith('cli/') && !roles.has(posix.basename(path)))
    .filter(({ path }) => importers(path).length === 1)
    .map(({ path }) => path)
  assert.deepEqual(
    shards.filter((path) => onPurpose[path] === undefined),
    [],
  )
  assert.deepEqual(
    Object.keys(onPurpose).filter((path) => !shards.includes(path)),
    [],
    'listed files exist and are short',
  )
})

test('there are no barrels: no index.ts, no re-exports', () => {
  const bad = files.filter(
    ({ path, text }) => /(?:^|\/)index\.ts$/.test(path) || /^export (?:type )?(?:\*|\{[^}]*\}) from/m.test(text),
  )
  assert.deepEqual(
    bad.map((file) => file.path),
    [],
  )
})

// Files that may read global state of the process or machine instead of receiving it, with the reason.
const allowed: [what: string, pattern: RegExp, places: RegExp][] = [
  // Commands pass the environment to `loadConfig`. The embedded PostgreSQL is a child that needs Windows' own
  // variables.
  ['the environment', /\bprocess\.env\b/, /^(?:main\.ts|cli\/.*|base\/embedded\/binaries\.ts)$/],
  // `systemClock` is the only clock that reads the time; all other code receives a clock.
  ['the time', /\bnew Date\(\)|\bDate\.now\(|(?<!new )\bDate\(\)/, /^base\/clock\.ts$/],
]

for (const [what, pattern, places] of allowed) {
  test(`only the files named here read ${what}`, () => {
    const asking = files.filter(({ text }) => pattern.test(text)).map((file) => file.path)
    assert.deepEqual(
      asking.filter((path) => !places.test(path)),
      [],
    )
  })
}

test('a fast test drives the clock: only tests with real sockets poll or sleep', () => {
  const ofSockets =
    /^(?:base\/(?:async|outgoing|postgres)\/.*|channels\/unofficial\/baileys-(?:transport|real)\.test\.ts)$/
  const tests = join(server, 'test')
  const waiting = readFolder(tests)
    .filter((file) => /(?<!\.(?:e2e|slow))\.test\.ts$/.test(file))
    .filter((file) =>
      /from '(?:node:)?timers\/promises'|[{,] until[,} ].* from '[./\w]*\/until\.ts'/.test(readFileSync(file, 'utf8')),
    )
    .map((file) => relative(tests, file).split(sep).join('/'))
  assert.deepEqual(
    waiting.filter((path) => !ofSockets.test(path)),
    [],
  )
})
