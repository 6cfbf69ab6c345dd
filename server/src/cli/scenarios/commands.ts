import { existsSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { InvalidInput } from '../../base/errors.ts'
import { type Difference, lineOf, type Outcome } from '../../scenarios/scenario/compare-runs.ts'
import type { Scenario } from '../../scenarios/scenario/scenario-schema.ts'
import type { ScenarioFile } from '../../scenarios/starter-set.ts'
import { printMessage, printResult } from '../terminal.ts'
import { type AgentProcess, startAgent } from './agent-process.ts'
import type { Installation } from './temporary-installation.ts'

interface RunOptions {
  agent?: string
  name?: string
  webhook?: string
  wait?: boolean
  server?: boolean
  workspace?: string
  instructions?: string
  tag?: string[]
  speed: number
  parallel: number
  answerWithin: number
  results?: string
  junit?: string
  json?: boolean
}

/** A result as the team API shows it. */
interface Result extends Outcome {
  ms: number
}

interface Run {
  status: string
}

const whole = (least: number, most: number) => (text: string) => {
  const value = Number(text)
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`)
  }
  return value
}

/** `parley scenarios …` */
export function addScenarioCommands(program: Command): void {
  const scenarios = program.command('scenarios').description('try an agent with scenarios, before customers meet it')
  scenarios
    .command('run [files...]')
    .description('run scenario files or folders, or the starter set, against an agent in a sandbox')
    .option('-a, --agent <command>', 'start the agent with this command, with PARLEY_URL and PARLEY_API_KEY')
    .option('--wait', 'print the address and the keys for an agent that is started elsewhere')
    .option('--webhook <url>', 'the agent receives events at this URL')
    .option('-n, --name <name>', 'name of the agent, for comparison with earlier runs; default: the command')
    .option('-t, --tag <tag>', 'only scenarios with this tag; can be repeated', (tag: string, all: string[] = []) => [
      ...all,
      tag,
    ])
    .option('--instructions <file>', "the team's instructions, in place of those of the scenarios")
    .addOption(new Option('--speed <factor>', 'divides the pauses of scripts').argParser(whole(1, 100)).default(1))
    .addOption(new Option('--parallel <number>', 'conversations at a time').argParser(whole(1, 20)).default(5))
    .addOption(
      new Option('--answer-within <seconds>', 'how long the agent may take to react')
        .argParser(whole(1, 300))
        .default(30),
    )
    .option('--results <file>', 'compare with the results in this file, then replace them')
    .option('--junit <file>', 'write the results as JUnit XML')
    .option('--server', 'run on the server of this data folder and keep the results there, instead of a temporary one')
    .option('-w, --workspace <id or name>', 'with --server: required if there are several')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExits with 0 if all passed, 2 if expectations were not met, 1 if it could not run.\n' +
        '\nExample:\n  parley scenarios run scenarios/ --agent "node agent.js" --junit scenarios.xml\n',
    )
    .action(runFiles)
  scenarios
    .command('init [folder]')
    .description('write the starter set and the JSON Schema of scenarios to a folder')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  parley scenarios init scenarios\n')
    .action(writeStarterSet)
  scenarios
    .command('check [files...]')
    .description('check scenario files or folders without running them')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  parley scenarios check scenarios/\n')
    .action(checkFiles)
}

async function writeStarterSet(folder = 'scenarios', { json }: { json?: boolean } = {}): Promise<void> {
  const [{ readStarterSet }, { publishedSchema }] = await Promise.all([
    import('../../scenarios/starter-set.ts'),
    import('../../scenarios/scenario/scenario-schema.ts'),
  ])
  const starter = readStarterSet()
  const taken = starter.find(({ file }) => existsSync(join(folder, file)))
  if (taken !== undefined) throw new Error(`${join(folder, taken.file)} exists. Choose another folder.`)
  for (const { file, text } of starter) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
  writeFileSync(join(folder, 'scenario.schema.json'), `${JSON.stringify(publishedSchema(), null, 2)}\n`)
  printResult(json, { folder, files: starter.map(({ file }) => file) }, [
    `Wrote ${starter.length} scenarios to ${folder}`,
  ])
}

async function checkFiles(paths: string[], { json }: { json?: boolean }): Promise<void> {
  const files = await readScenarios(paths)
  const names = files.map(({ scenario }) => scenario.name)
  printResult(json, { scenarios: names }, [`${names.length} valid ${names.length === 1 ? 'scenario' : 'scenarios'}`])
}

/** Reads files and folders; without any, the starter set. Throws an error with the path and field of each mistake. */
async function readScenarios(paths: readonly string[], tags: readonly string[] = []): Promise<ScenarioFile[]> {
  const [{ readStarterSet }, { parseScenario }] = await Promise.all([
    import('../../scenarios/starter-set.ts'),
    import('../../scenarios/scenario/parse-scenario.ts'),
  ])
  const found =
    paths.length === 0 ? readStarterSet() : paths.flatMap(filesAt).map((file) => readFile(file, parseScenario))
  const chosen = found.filter(({ scenario }) => tags.length === 0 || scenario.tags?.some((tag) => tags.includes(tag)))
  if (chosen.length === 0) throw new Error('No scenarios found')
  return chosen
}

function filesAt(path: string): string[] {
  if (!existsSync(path)) throw new Error(`${path} does not exist`)
  if (!statSync(path).isDirectory()) return [path]
  return globSync('**/*.json', { cwd: path })
    .filter((file) => !file.endsWith('.schema.json') && !file.includes('node_modules'))
    .sort()
    .map((file) => join(path, file))
}

function readFile(file: string, parse: (text: string) => Scenario): ScenarioFile {
  const text = readFileSync(file, 'utf8')
  try {
    return { file, text, scenario: parse(text) }
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error
    throw new Error([`${file}:`, ...error.issues.map(({ path, message }) => `  ${path} ${message}`)].join('\n'))
  }
}

async function runFiles(paths: string[], options: RunOptions): Promise<void> {
  const { agent, webhook, wait: isElsewhere = false } = options
  if (agent === undefined && webhook === undefined && !isElsewhere) {
    throw new Error('--agent, --webhook or --wait is required: say how the agent is started')
  }
  const files = await readScenarios(paths, options.tag)
  // Agents are in process groups of their own, and the folder is temporary: nothing else would remove them.
  const interrupted = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interrupted.abort())
  const work = (installation: Installation) => runAt(installation, files, options, interrupted.signal)
  const { results, status } = options.server
    ? await onServer(options.workspace, work)
    : await (await import('./temporary-installation.ts')).withTemporaryInstallation(work)
  await report(results, status, options)
}

async function onServer<T>(workspace: string | undefined, work: (at: Installation) => Promise<T>): Promise<T> {
  const [{ callAt, pickWorkspace, runningServer }, { loadConfig }] = await Promise.all([
    import('../team-call.ts'),
    import('../../config.ts'),
  ])
  const server = await runningServer(loadConfig(process.env))
  if (server === null) throw new Error('No server runs on this data folder. Start it, or omit --server')
  const call = callAt(server)
  const { id } = await pickWorkspace(call, workspace)
  return work({ call, url: server.url, place: `/workspaces/${id}` })
}

interface Started {
  runId: string
  agents: { key: string; webhookSecret: string | null; scenarios: string[] }[]
}

const pollEveryMs = 250
const connectSeconds = { started: 30, elsewhere: 600 }

async function runAt(
  { call, url, place }: Installation,
  files: readonly ScenarioFile[],
  options: RunOptions,
  signal: AbortSignal,
): Promise<{ results: Result[]; status: string }> {
  const { agent, webhook, instructions, speed, parallel, answerWithin } = options
  const started = await call<Started>('POST', `${place}/scenario-runs`, {
    scenarios: files.map(({ text }) => text),
    agent: nameOf(options),
    ...{ speed, parallel, answerSeconds: answerWithin },
    ...(webhook !== undefined && { webhookUrl: webhook }),
    ...(instructions !== undefined && { instructions: readFileSync(instructions, 'utf8') }),
    connectSeconds: agent === undefined ? connectSeconds.elsewhere : connectSeconds.started,
  })
  if (agent === undefined) for (const line of keyLines(url, started)) printMessage(line)
  const agents = agent === undefined ? [] : started.agents.map(({ key }) => startAgent(agent, url, key))
  try {
    const at = `${place}/scenario-runs/${started.runId}`
    return await watch(call, at, agents, { isSilent: options.json === true, signal })
  } finally {
    await Promise.all(agents.map((one) => one.stop()))
  }
}

const nameOf = ({ name, agent, webhook }: RunOptions): string => (name ?? agent ?? webhook ?? 'agent').slice(0, 100)

const keyLines = (url: string, { agents }: Started): string[] => [
  `Start the agent${agents.length === 1 ? '' : ' once with each key'}:`,
  ...agents.map(
    ({ key, webhookSecret, scenarios }) =>
      `  PARLEY_URL=${url} PARLEY_API_KEY=${key}${webhookSecret === null ? '' : ` (webhook secret ${webhookSecret})`}` +
      `  for ${scenarios.length} scenarios`,
  ),
]

/** Shows results as they come, until the run has ended or an agent has. */
async function watch(
  call: Installation['call'],
  at: string,
  agents: readonly AgentProcess[],
  { isSilent, signal }: { isSilent: boolean; signal: AbortSignal },
): Promise<{ results: Result[]; status: string }> {
  const shown = new Set<string>()
  for (;;) {
    const { run, results } = await call<{ run: Run; results: Result[] }>('GET', at)
    for (const result of results) {
      if (shown.has(result.name) || !['passed', 'failed', 'error'].includes(result.verdict)) continue
      shown.add(result.name)
      if (!isSilent) printResult(false, {}, linesOfOutcome(result))
    }
    if (run.status !== 'waiting' && run.status !== 'running') return { results, status: run.status }
    const problem = signal.aborted ? 'Interrupted' : agents.map((one) => one.problem()).find((one) => one !== null)
    if (typeof problem === 'string') {
      await call('POST', `${at}/cancel`)
      throw new Error(problem)
    }
    await wait(pollEveryMs)
  }
}

async function report(results: readonly Result[], status: string, options: RunOptions): Promise<void> {
  const { json, junit, results: file } = options
  const before = file !== undefined && existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Result[]) : []
  if (file !== undefined) writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`)
  if (junit !== undefined) {
    const { junitOf } = await import('../../scenarios/scenario/junit.ts')
    writeFileSync(junit, junitOf(nameOf(options), results))
  }
  const { compareOutcomes } = await import('../../scenarios/scenario/compare-runs.ts')
  const changes = results.map((result) => ({
    name: result.name,
    ...compareOutcomes(before.find(({ name }) => name === result.name) ?? null, result),
  }))
  printResult(json, { status, results }, linesOfRun(results, changes))
  if (status !== 'finished') process.exitCode = 1
  else if (results.some(({ verdict }) => verdict !== 'passed')) process.exitCode = 2
}

const marks: Record<string, string> = { passed: '✓', failed: '✗', error: '!' }
const maxLines = 12

/** Returns the lines of one result: for a failed one what was expected, and the end of the conversation. */
function linesOfOutcome({ name, verdict, checks, entries, ms }: Result): string[] {
  const title = `${marks[verdict] ?? '-'} ${name} (${(ms / 1000).toFixed(1)} s)`
  if (verdict === 'passed') return [title]
  const unmet = checks
    .filter(({ passed }) => !passed)
    .map(({ check, expected, actual }) => `    ${check}: expected ${expected}; found ${actual || 'nothing'}`)
  return [title, ...unmet, ...entries.slice(-maxLines).map((entry) => `      ${lineOf(entry)}`)]
}

/** Returns the summary of a run, and what is different from the one before. */
function linesOfRun(results: readonly Result[], changes: readonly (Difference & { name: string })[]): string[] {
  const count = (verdict: string) => results.filter((one) => one.verdict === verdict).length
  const others = results.length - count('passed') - count('failed') - count('error')
  const lines = [
    `${count('passed')} passed, ${count('failed')} failed, ${count('error')} could not be played` +
      (others === 0 ? '' : `, ${others} skipped`),
  ]
  const differing = changes.filter(
    ({ before, broken, fixed, lines: text }) =>
      before !== null && (broken.length > 0 || fixed.length > 0 || text.length > 0),
  )
  if (differing.length === 0) return lines
  lines.push('', 'Changed since the run before:')
  for (const { name, broken, fixed, lines: text } of differing) {
    lines.push(`  ${name}`)
    lines.push(...broken.map((one) => `    no longer: ${one}`), ...fixed.map((one) => `    now: ${one}`))
    lines.push(...text.filter(({ mark }) => mark !== ' ').map(({ mark, text: line }) => `    ${mark} ${line}`))
  }
  return lines
}
