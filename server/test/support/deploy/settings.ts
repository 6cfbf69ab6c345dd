import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { loadConfig } from '../../../src/config.ts'
import { newFolder } from '../folder.ts'

/** Value of every secret: long enough for a token, and valid as a key. */
const secret = Buffer.alloc(32, 7).toString('base64')

/** Parses settings as the service does, with a value in every secret file they name. Throws for an unknown setting. */
export async function loadSettings(env: Record<string, string>): Promise<ReturnType<typeof loadConfig>> {
  const path = join(await newFolder(), 'secret')
  await writeFile(path, `${secret}\n`)
  const settings = Object.entries(env).map(([name, value]) => [name, name.endsWith('_FILE') ? path : value])
  return loadConfig(Object.fromEntries(settings))
}
