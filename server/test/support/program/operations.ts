import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

// Tests run the commands of these documents exactly as written.

const documents = ['operations.md', 'fault-testing.md'].map((name) =>
  fileURLToPath(new URL(`../../../../docs/${name}`, import.meta.url)),
)

/** Returns the fenced commands below a heading, or its code blocks of another language. */
export async function commandsUnder(heading: string, language = 'sh'): Promise<string[]> {
  const section = (await sections()).find((part) => part.startsWith(`${heading}\n`)) ?? ''
  return [...section.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].flatMap(([, of = '', block = '']) =>
    of === language ? [block] : [],
  )
}

/** Returns the headings that have commands below them. */
export async function commandHeadings(): Promise<string[]> {
  const withCommands = (await sections()).filter((part) => /^```sh$/m.test(part))
  return withCommands.map((part) => part.slice(0, part.indexOf('\n')))
}

async function sections(): Promise<string[]> {
  const texts = await Promise.all(documents.map((path) => readFile(path, 'utf8')))
  return texts.flatMap((text) => text.split(/^## /m))
}

/** Runs the commands in this folder and returns their output. */
export async function type(commands: string, cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  const { stdout } = await promisify(execFile)('bash', ['-ec', commands], { cwd, env, maxBuffer: 50_000_000 })
  return stdout
}
