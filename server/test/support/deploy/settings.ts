import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { loadConfig } from '../../../src/config.ts'
import { newFolder } from '../folder.ts'

/** What stands for each secret: long enough for a token, and a key where one is wanted. */
const secret = Buffer.alloc(32, 7).toString('base64')

/** Reads settings as the service does, with a secret in every file that they name; throws where one is none of Parley's. */
export async function loadSettings(env: Record<string, string>): Promise<ReturnType<typeof loadConfig>> {
  const path = join(await newFolder(), 'secret')
  await writeFile(path, `${secret}\n`)
  const settings = Object.entries(env).map(([name, value]) => [name, name.endsWith('_FILE') ? path : value])
  return loadConfig(Object.fromEntries(settings))
}
