import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

// What docs/operations.md tells people to type is typed by tests, as it stands there.

const document = fileURLToPath(new URL('../../../../docs/operations.md', import.meta.url))

/** The fenced commands below a heading; of another language than the shell's, or of none, what stands there instead. */
export async function commandsUnder(heading: string, language = 'sh'): Promise<string[]> {
  const section = (await sections()).find((part) => part.startsWith(`${heading}\n`)) ?? ''
  return [...section.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].flatMap(([, of = '', block = '']) =>
    of === language ? [block] : [],
  )
}

/** The headings below which there are commands. */
export async function commandHeadings(): Promise<string[]> {
  const withCommands = (await sections()).filter((part) => /^```sh$/m.test(part))
  return withCommands.map((part) => part.slice(0, part.indexOf('\n')))
}

const sections = async () => (await readFile(document, 'utf8')).split(/^## /m)

/** Types them in this folder, and returns what they print. */
export async function type(commands: string, cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  const { stdout } = await promisify(execFile)('bash', ['-ec', commands], { cwd, env, maxBuffer: 50_000_000 })
  return stdout
}
