import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { atEnd } from '../support/file-end.ts'
import { newFolder } from '../support/folder.ts'
import { freePort } from '../support/program/service.ts'
import { shellEnvironment } from '../support/program/shell.ts'
import { assertShows, fillIn, type Step, stepsOf, type Values } from '../support/program/tutorial.ts'

// What docs/tutorials tells people to type is typed here, page by page, as it stands there; but for the ports, which
// have to be free, and what the pages name in angle brackets.

const root = fileURLToPath(new URL('../../..', import.meta.url))
const tutorials = join(root, 'docs', 'tutorials')
const documentedPorts = ['7007', '7008', '9000']
const lastWords = 'Stop with Ctrl+C.'
// What a command that only reads shows may come a moment later: a person types it again.
const onlyReads = /^(?:(?:curl -sS "|cat )[^\n]*\n)+$/
const looks = 200
const lookEveryMs = 100

test('each tutorial does what it says when its commands are typed', { timeout: 300_000 }, async (t) => {
  const start = await readFile(join(tutorials, 'README.md'), 'utf8')
  const pages = [...start.matchAll(/^\d+\. \[.*\]\((\S+\.md)\)/gm)].map(([, page = '']) => page)
  const inFolder = (await readdir(tutorials)).filter((name) => name.endsWith('.md'))
  assert.deepEqual(['README.md', ...pages].sort(), inFolder.sort(), 'The first page leads to each of the others')

  const reader = await newReader()
  for (const step of stepsOf(start)) await reader.take(step)
  for (const page of pages) {
    await t.test(page, async () => {
      for (const step of stepsOf(await readFile(join(tutorials, page), 'utf8'))) await reader.take(step)
    })
  }
})

interface Reader {
  take(step: Step): Promise<void>
}

/** Somebody in a clone of their own, who begins with nothing. */
async function newReader(): Promise<Reader> {
  const clone = await newFolder()
  for (const name of await readdir(root)) await symlink(join(root, name), join(clone, name))
  const ports = new Map<string, string>()
  for (const port of documentedPorts) ports.set(port, String(await freePort()))
  const here = (words: string) =>
    words.replaceAll(new RegExp(`\\b(?:${documentedPorts.join('|')})\\b`, 'g'), (port) => ports.get(port) ?? port)
  const data = { PARLEY_DATA_DIR: await newFolder(), SAVED: join(await newFolder(), 'exported') }
  const env = shellEnvironment({ PARLEY_PORT: here('7007'), PARLEY_SIMULATOR_PORT: here('7008'), ...data })
  const values: Values = new Map()
  return {
    take: async ({ commands, shows }) => {
      const typed = fillIn(here(commands), values)
      for (let look = 1; ; look++) {
        const output = await type(typed, clone, env)
        try {
          if (shows !== null) assertShows(output, here(shows), values)
          return
        } catch (error) {
          if (look === looks || !onlyReads.test(typed)) throw error
        }
        await sleep(lookEveryMs)
      }
    },
  }
}

/** What is shown, by a command that ends or by a start once it serves. */
async function type(commands: string, cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  const script = `if [ -e $SAVED ]; then . $SAVED; cd "$PWD"; fi\n${commands}\nexport -p > $SAVED`
  // A group of its own, so that what a page leaves running ends with the test.
  const child = spawn('bash', ['-ec', script], { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const gone = once(child, 'exit')
  atEnd(() => end(child, gone))
  if (/^npm start$/m.test(commands)) return firstWords(child, gone)
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), gone])
  assert.equal(code, 0, `${commands}\nended with ${code}:\n${output}${errors}`)
  return output + errors
}

async function firstWords(child: ChildProcess, gone: Promise<unknown>): Promise<string> {
  let words = ''
  child.stdout?.resume()
  const served = new Promise<void>((resolve) => {
    child.stderr?.setEncoding('utf8').on('data', (more) => {
      words += more
      if (words.includes(lastWords)) resolve()
    })
  })
  await Promise.race([served, gone.then(() => assert.fail(`It ended: ${words}`))])
  return words
}

async function end(child: ChildProcess, gone: Promise<unknown>): Promise<void> {
  try {
    process.kill(-(child.pid ?? 0), 'SIGTERM')
  } catch {
    // All of the group have ended.
  }
  await gone
}
