// Runs the tests: `npm test`, or `npm test -- server/test/leads` for a folder or files. Options: see CONTRIBUTING.md.
import { createHash } from 'node:crypto'
import { globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { run } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { inspect, parseArgs } from 'node:util'
import { buildWebIfNeeded } from '../../scripts/build-web.ts'
import { changedTests } from '../../scripts/changed-tests.ts'
import { ensureChromium } from '../../scripts/chromium.ts'
import { makeScratch, startServerFor } from './support/test-server.ts'

type Tier = 'fast' | 'e2e' | 'slow'

process.chdir(fileURLToPath(new URL('../..', import.meta.url)))
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    tier: { type: 'string', multiple: true },
    changed: { type: 'boolean', default: false },
    since: { type: 'string', default: 'main' },
    shard: { type: 'string' },
    // Puts the files in another order, and so with other files into a process: finds tests that need an order.
    seed: { type: 'string' },
    // Each tier starts no further file after so many minutes; those left out are printed.
    minutes: { type: 'string', default: 'Infinity' },
    concurrency: { type: 'string', default: String(Math.max(2, availableParallelism())) },
    pooler: { type: 'boolean', default: false },
    distributed: { type: 'boolean', default: false },
    'test-name-pattern': { type: 'string', multiple: true },
    'test-timeout': { type: 'string', default: '180000' },
  },
})
const filesPerProcess: Record<Tier, number> = { fast: 24, e2e: 8, slow: 1 }
const maxFailureLength = 4000
const cache = resolve('node_modules/.cache/parley-tests')
const groupFolder = join(cache, `groups-${process.pid}`)
const [failures, counts] = [[] as string[], { passed: 0, failed: 0, skipped: 0 }]
const stopping = new AbortController()
const tierOf = (file: string) => (/\.(e2e|slow)\.test\.ts$/.exec(file)?.[1] ?? 'fast') as Tier
process.once('SIGINT', () => stopping.abort()).once('SIGTERM', () => stopping.abort())

const files = ordered(filterFiles(selectFiles()))
const needsBrowser = files.some((file) => tierOf(file) === 'e2e' || /playwright/.test(readFileSync(file, 'utf8')))
if (needsBrowser) process.env.CHROMIUM = ensureChromium()
const scratch = makeScratch()
process.env.TMPDIR = scratch.folder
const starting = startServerFor(values, process.env, scratch)
starting.catch(() => stopping.abort())
try {
  await buildWebIfNeeded()
  process.env.PARLEY_TEST_SERVER = scratch.serverFile
  process.env.NODE_COMPILE_CACHE = cache
  // Slow tests measure time, so no browsers run beside them.
  for (const groups of [[...groupFiles('e2e'), ...groupFiles('fast')], groupFiles('slow')]) await runGroups(groups)
  console.log(failures.join('\n'))
  console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`)
  process.exitCode = counts.failed === 0 && counts.passed > 0 && !stopping.signal.aborted ? 0 : 1
} finally {
  await (await starting).stop()
  for (const made of [groupFolder, scratch.folder]) rmSync(made, { recursive: true, force: true, maxRetries: 5 })
}

/** Returns the files that the arguments select; by default the fast tier and the browser journeys. */
function selectFiles(): string[] {
  const isFast = positionals.length === 0 || values.distributed || values.pooler
  const tiers = values.tier ?? (isFast ? ['fast'] : ['fast', 'e2e'])
  const inFolder = (folder: string) =>
    globSync(join(folder, '**/*.test.ts')).filter((file) => tiers.includes('all') || tiers.includes(tierOf(file)))
  if (positionals.length === 0) {
    const journeys = values.tier ? [] : globSync('web/test/journeys/*.e2e.test.ts')
    return [...['server/test', 'simulator/test', 'web/test'].flatMap(inFolder), ...journeys].sort()
  }
  const found = positionals.flatMap((path) => {
    const matches = statSync(path, { throwIfNoEntry: false })?.isDirectory() ? inFolder(path) : globSync(path)
    if (matches.length === 0) throw new Error(`No test file matches ${path}. Name a file, a folder or a pattern.`)
    return matches
  })
  return [...new Set(found)].sort()
}

/** Filters by shard and by what the changes reach, as requested; the shard comes first. */
function filterFiles(all: string[]): string[] {
  if (!values.changed && values.shard === undefined) return all
  const isReached = values.changed ? changedTests(values.since) : undefined
  const [index = 1, total = 1] = values.shard?.split('/').map(Number) ?? [0]
  const isInShard = (n: number) => n % total === index - 1
  return [
    ...all.filter((_, n) => isInShard(n)),
    ...all.filter((file, n) => !isInShard(n) && isReached?.(file) === true),
  ]
}

/** Returns the files as they are, or in the order of the seed. */
function ordered(all: string[]): string[] {
  if (values.seed === undefined) return all
  const key = (file: string) => createHash('sha256').update(`${values.seed} ${file}`).digest('hex')
  return [...all].sort((a, b) => (key(a) < key(b) ? -1 : 1))
}

/** Returns, for each process of the tier, a file that runs its tests. Journeys share a process, and start first. */
function groupFiles(tier: Tier): string[] {
  mkdirSync(groupFolder, { recursive: true })
  const runGroup = pathToFileURL(resolve('server/test/support/group.ts')).href
  const byFolder = Object.groupBy(
    files.filter((file) => tierOf(file) === tier),
    (file) => (tier === 'e2e' ? dirname(file) : tier),
  )
  const size = filesPerProcess[tier]
  const inGroups = (all: string[] = []) =>
    Array.from({ length: Math.ceil(all.length / size) }, (_, n) => all.slice(n * size, (n + 1) * size))
  const groups = Object.values(byFolder).reverse().flatMap(inGroups)
  return groups.map((group, n) => {
    const path = join(groupFolder, `${tier}-${n}.mjs`)
    const named = group.map((name) => ({ name, path: resolve(name) }))
    writeFileSync(path, `import { runGroup } from '${runGroup}'\nawait runGroup(${JSON.stringify(named)})\n`)
    return path
  })
}

/** Runs the groups of a tier, some at once, until its time is up. */
async function runGroups(groups: string[]): Promise<void> {
  const endsAt = performance.now() + Number(values.minutes) * 60_000
  const waiting = groups.values()
  const runNext = async () => {
    while (performance.now() < endsAt && !stopping.signal.aborted) {
      const { value: group } = waiting.next()
      if (group === undefined) return
      await runGroup(group)
    }
  }
  const atOnce = values.distributed ? 1 : Number(values.concurrency)
  await Promise.all(Array.from({ length: atOnce }, runNext))
  const left = [...waiting].flatMap((group) => [...readFileSync(group, 'utf8').matchAll(/"name":"([^"]+)"/g)])
  for (const [, name] of left) console.log(`– ${name} was left out: the time is up`)
}

async function runGroup(group: string): Promise<void> {
  const tests = run({
    files: [group],
    execArgv: [`--test-timeout=${values['test-timeout']}`],
    signal: stopping.signal,
    testNamePatterns: values['test-name-pattern'],
  })
  const said = new Map<string, string>()
  let failure: { file: string | undefined } | undefined
  for await (const { type, data } of tests) {
    if (type === 'test:complete' && data.nesting === 0 && data.details.type === 'suite')
      console.log(`${data.details.passed ? '✔' : '✖'} ${data.name} (${(data.details.duration_ms / 1000).toFixed(1)} s)`)
    if (type === 'test:summary' && data.file === undefined) {
      counts.passed += data.counts.passed
      counts.skipped += data.counts.skipped + data.counts.todo
    }
    if (type === 'test:diagnostic' && data.file !== undefined) {
      const text = data.message.slice(-maxFailureLength)
      console.log(`  ℹ ${text}`)
      if (data.file === failure?.file) failures.push(text)
    }
    if (type === 'test:stderr') said.set(data.file, (said.get(data.file) ?? '') + data.message)
    if (type === 'test:fail' || type === 'test:pass') failure = undefined
    if (type === 'test:fail') failure = printFailure(data, said.get(data.name))
  }
}

/** Prints a failed test with the command that repeats it; skips a suite that failed only because of its tests. */
function printFailure({ name, file, details }: { name: string; file?: string; details: { error: Error } }, said = '') {
  if ('failureType' in details.error && details.error.failureType === 'subtestsFailed') return undefined
  const path = file === undefined ? '' : relative('.', file)
  const repeat = `npm test -- ${path} --test-name-pattern=${JSON.stringify(name.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&'))}`
  const text = `\n✖ ${path} › ${name}\n  ${repeat}\n${said.slice(-maxFailureLength) || inspect(details.error.cause ?? details.error).slice(0, maxFailureLength)}`
  console.log(text)
  counts.failed++
  failures.push(text)
  return { file }
}
