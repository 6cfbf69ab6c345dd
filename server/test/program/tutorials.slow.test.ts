import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdir, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { newFolder } from '../support/folder.ts'
import { spawnShell, startInstalled } from '../support/program/installation.ts'
import { freePort } from '../support/program/service.ts'
import { shellEnvironment } from '../support/program/shell.ts'
import { assertShows, fillIn, type Step, stepsOf, type Values } from '../support/program/tutorial.ts'

// What docs/tutorials tells people to type is typed here, page by page, as it stands there; but for the ports, which
// have to be free, and what the pages name in angle brackets.

const root = fileURLToPath(new URL('../../..', import.meta.url))
const tutorials = join(root, 'docs', 'tutorials')
const documentedPorts = ['7007', '7008', '9000']
// What a command that only reads shows may come a moment later: a person types it again.
const onlyReads = /^(?:(?:curl -sS "|cat )[^\n]*\n)+$/
const looks = 200
const lookEveryMs = 100

test('the commands of each tutorial work as described', { timeout: 300_000 }, async (t) => {
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

/** A person with a fresh clone. */
async function newReader() {
  const clone = await newFolder()
  for (const name of await readdir(root)) await symlink(join(root, name), join(clone, name))
  const ports = new Map<string, string>()
  for (const port of documentedPorts) ports.set(port, String(await freePort()))
  const anyPort = new RegExp(`\\b(?:${documentedPorts.join('|')})\\b`, 'g')
  const here = (words: string) => words.replaceAll(anyPort, (port) => ports.get(port) ?? port)
  const data = { PARLEY_DATA_DIR: await newFolder(), SAVED: join(await newFolder(), 'exported') }
  const env = shellEnvironment({ PARLEY_PORT: here('7007'), PARLEY_SIMULATOR_PORT: here('7008'), ...data })
  const values: Values = new Map()
  const take = async ({ commands, shows }: Step): Promise<void> => {
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
  }
  return { take }
}

/** What is shown, by a command that ends or by a start once it serves. */
async function type(commands: string, cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  const script = `if [ -e $SAVED ]; then . $SAVED; cd "$PWD"; fi\n${commands}\nexport -p > $SAVED`
  if (/^npm start$/m.test(commands)) return (await startInstalled(script, cwd, env)).printed()
  const child = spawnShell(script, cwd, env)
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  assert.equal(code, 0, `${commands}\nended with ${code}:\n${output}${errors}`)
  return output + errors
}
