import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

// What docs/operations.md tells people to type is typed by tests, as it stands there.

const document = fileURLToPath(new URL('../../../../docs/operations.md', import.meta.url))

/** The fenced commands below a heading. */
export async function commandsUnder(heading: string): Promise<string[]> {
  const section =
    (await readFile(document, 'utf8')).split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? ''
  return [...section.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map((match) => match[1] ?? '')
}

/** Types them in this folder, and returns what they print. */
export async function type(commands: string, cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  const { stdout } = await promisify(execFile)('bash', ['-ec', commands], { cwd, env, maxBuffer: 50_000_000 })
  return stdout
}
