import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build } from 'vite'
import { type ClientWorld, clientWorld } from '../support/client/client-world.ts'
import { oncePerFile } from '../support/file-lifecycle.ts'
import { newFolder } from '../support/folder.ts'
import { signedInMember } from '../support/member.ts'
import { until } from '../support/until.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const clientFolder = join(root, 'client')
const run = promisify(execFile)
const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')

/** A folder with only the installed package, as published. */
const installedClient = oncePerFile(async (): Promise<string> => {
  const folder = await newFolder()
  const target = join(folder, 'node_modules', '@parley', 'client')
  await mkdir(target, { recursive: true })
  await run(process.execPath, [compiler, '-p', clientFolder, '--outDir', join(target, 'dist')])
  for (const name of ['package.json', 'README.md']) await cp(join(clientFolder, name), join(target, name))
  for (const name of ['examples', 'test']) await cp(join(clientFolder, name), join(folder, name), { recursive: true })
  // Packages that an example says to install.
  const other = join('node_modules', '@modelcontextprotocol')
  await symlink(join(root, other), join(folder, other))
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module', private: true }))
  return folder
})

/** Returns the output of the strictest compiler settings, for a Node program. */
async function complaints(folder: string, files: string[]): Promise<string> {
  const strict = ['--strict', '--noUncheckedIndexedAccess', '--exactOptionalPropertyTypes', '--noEmit', '--checkJs']
  const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules', '@types')]
  const modern = '--target es2022 --lib es2022,dom,dom.iterable --module nodenext --moduleResolution nodenext'.split(
    ' ',
  )
  const ran = run(process.execPath, [compiler, ...strict, ...types, ...modern, ...files], { cwd: folder })
  return ran.then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout,
  )
}

/** Runtimes: our Node, the oldest supported Node if installed, and others on request. */
const runtimes = oncePerFile(async (): Promise<string[][]> => {
  const { PATH = '', CLIENT_RUNTIMES: others = '' } = process.env
  const asked = others.split(',').filter((command) => command !== '')
  const found = [[process.execPath], ...asked.map((command) => command.split(' '))]
  for (const folder of PATH.split(delimiter)) {
    const node = join(folder, 'node')
    if (!existsSync(node)) continue
    const { stdout } = await run(node, ['--version'])
    if (!stdout.startsWith('v20.')) continue
    found.push([node])
    break
  }
  return found
})

/** The programs of the README, in order. */
async function programs(): Promise<string[]> {
  const readme = await readFile(join(clientFolder, 'README.md'), 'utf8')
  return [...readme.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, program = '']) => program)
}

async function writtenTo(folder: string): Promise<{ file: string; program: string }[]> {
  const all = (await programs()).map((program, i) => ({ file: `readme-${i}.js`, program: `${program}\nexport {}\n` }))
  for (const { file, program } of all) await writeFile(join(folder, file), program)
  return all
}

/** Returns the expected output from comments with this prefix. */
const promised = (program: string): string[] =>
  [...program.matchAll(/\/\/ → (.*)$/gm)].map(([, line = '']) => line.trimEnd())

async function ran(runtime: string[], folder: string, file: string, env: Record<string, string>): Promise<string[]> {
  const [command = '', ...words] = runtime
  const child = spawn(command, [...words, file], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  assert.equal(stderr, '', file)
  return stdout.split('\n').filter((line) => line !== '')
}

const environmentOf = ({ url, agent }: ClientWorld) => ({ PARLEY_URL: url, PARLEY_API_KEY: agent.value })

test('the programs of the README print what it shows, on all installed runtimes', async () => {
  const folder = await installedClient()
  const all = await writtenTo(folder)
  const [beginning] = all
  assert.ok(beginning !== undefined && all.length >= 5)
  for (const runtime of await runtimes()) {
    for (const { file, program } of all) {
      const w = await clientWorld()
      await w.customerWrites('Do you ship to Recife?')
      // The first program creates the data for the feed.
      if (program.includes('events.follow')) await ran(runtime, folder, beginning.file, environmentOf(w))
      assert.deepEqual(await ran(runtime, folder, file, environmentOf(w)), promised(program), `${runtime} ${program}`)
    }
  }
})

test('the programs of the README and the examples compile and are fully typed', async () => {
  const folder = await installedClient()
  const names = (await writtenTo(folder)).map(({ file }) => file)
  const examples = (await readdir(join(folder, 'examples'))).map((name) => join('examples', name))
  assert.equal(await complaints(folder, [...names, ...examples, join('test', 'typed-calls.ts')]), '')
})

/** Bundles the package for browsers. */
const bundled = oncePerFile(async (): Promise<string> => {
  const folder = await installedClient()
  await writeFile(join(folder, 'page.js'), `export * from '@parley/client'\n`)
  const bundle = await build({
    root: folder,
    logLevel: 'error',
    configFile: false,
    build: { write: false, target: 'es2022', minify: true, lib: { entry: 'page.js', formats: ['es'] } },
  })
  const [{ output }] = bundle as unknown as [{ output: { code: string }[] }]
  return output[0]?.code ?? ''
})

test('a browser bundle contains no Node code and is as small as the README says', async () => {
  const code = await bundled()
  assert.doesNotMatch(code, /\bimport\b|\brequire\(|\bBuffer\b/)
  const bytes = gzipSync(code).length
  const [, said = ''] = /(\d+(?:\.\d+)?) KB/.exec(await readFile(join(clientFolder, 'README.md'), 'utf8')) ?? []
  assert.ok(bytes <= Number(said) * 1024 && bytes > (Number(said) - 1) * 1024, `${bytes} bytes, said to be ${said} KB`)
})

/** Runs an example until the test ends. */
async function running(t: TestContext, w: ClientWorld, example: string): Promise<void> {
  const folder = await installedClient()
  const options = { cwd: folder, env: environmentOf(w) }
  const child = spawn(process.execPath, [join('examples', example)], {
    ...options,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const said = text(child.stderr)
  t.after(async () => {
    child.kill('SIGTERM')
    assert.equal(await said, '', `${example} had nothing to complain of`)
  })
}

/** Texts that were sent to customers of this world. */
const told = ({ platform, connectionId }: ClientWorld): unknown[] =>
  platform.sends
    .filter((sent) => sent.connectionId === connectionId)
    .map(({ order }) => (order.message.kind === 'text' ? order.message.text : order.message.kind))

test('the echo agent repeats what customers say', async (t) => {
  const w = await clientWorld()
  await w.customerWrites('Hello')
  await running(t, w, 'echo-agent.js')
  await until(() => told(w).length === 1, 'the first echo')
  w.clock.advance(1000)
  await w.customerWrites('Bye')
  await until(() => told(w).length === 2, 'the second echo')
  assert.deepEqual(told(w), ['You said: Hello', 'You said: Bye'])
})

const threeMessages: [example: string, answer: string][] = [
  ['echo-agent.js', 'You said: Hi\nI have a question\nDo you ship to Recife?'],
  ['mcp-agent.js', 'We ship to all of Brazil, in two to five days.'],
]

for (const [example, answer] of threeMessages) {
  test(`${example} answers three messages within 6 seconds once`, async (t) => {
    const w = await clientWorld({ quietSeconds: null })
    await running(t, w, example)
    for (const said of ['Hi', 'I have a question', 'Do you ship to Recife?']) {
      await w.customerWrites(said)
      w.clock.advance(3000)
    }
    w.clock.advance(1000)
    await until(() => told(w).length > 0, 'the answer', 120_000)
    w.clock.advance(1000)
    await w.customerWrites('Do you deliver on Sundays?')
    w.clock.advance(4000)
    await until(() => told(w).length > 1, 'the second answer', 120_000)
    const second = example === 'echo-agent.js' ? 'You said: Do you deliver on Sundays?' : answer
    assert.deepEqual(told(w), [answer, second])
  })
}

const refunds: [name: string, example: string, closing: string, handedOver: object][] = [
  [
    'the triage agent',
    'triage-agent.js',
    'A colleague will help you with this.',
    { urgency: 'high', reason: 'Refunds need a person.' },
  ],
  ['the agent over MCP, by tools alone,', 'mcp-agent.js', 'A colleague will help you.', {}],
]

for (const [name, example, closing, handedOver] of refunds) {
  test(`${name} answers known questions, hands over with a summary, and continues when it is handed back`, async (t) => {
    const w = await clientWorld()
    const member = await signedInMember(w)
    const { id } = await w.customerWrites('Do you ship to Recife?')
    await running(t, w, example)
    await until(() => told(w).length === 1, 'the answer')
    w.clock.advance(1000)
    await w.customerWrites('I want my money back')
    const place = `/inbox/conversations/${id}`
    const conversation = async () => (await member.call('GET', place)).body.conversation
    await until(async () => (await conversation()).owner === 'human', 'the hand-over')
    assert.partialDeepStrictEqual((await conversation()).handover, handedOver)
    if (example === 'triage-agent.js') {
      const { items } = (await member.call('GET', `${place}/timeline`)).body
      assert.match(JSON.stringify(items), /Marina Duarte wrote “Do you ship to Recife\?”, “I want my money back”\./)
    }

    w.clock.advance(1000)
    const note = { summary: 'Paid back.', nextStep: 'Your money is on its way.' }
    assert.equal((await member.call('POST', `${place}/hand-back`, { keyId: w.agent.id, note })).status, 200)
    await until(() => told(w).length === 3, 'the next step')
    assert.deepEqual(told(w), ['We ship to all of Brazil, in two to five days.', closing, 'Your money is on its way.'])
  })
}
